# Calls Futhark programs through Fiddle. Libraries that `futhark-library` has built check handles, copy what they would
# overwrite, lock, and keep a context until its values are freed, so this bridge does none of this.
require "fiddle/import"
require "json"

module Futhark
  # A C function failed. The message is the library's.
  class Error < StandardError; end

  # A scalar type: numbers, or true and false. Ruby has no half-precision numbers, so an f16 is an Integer, its bits.
  class Scalar
    # Directives of Array#pack.
    FORMATS = { "i8" => "c", "i16" => "s", "i32" => "l", "i64" => "q", "u8" => "C", "u16" => "S", "u32" => "L",
                "u64" => "Q", "f16" => "S", "f32" => "f", "f64" => "d", "bool" => "C" }
    attr_reader :name, :size

    def initialize(name, size) = (@name, @size, @format = name, size, "#{FORMATS.fetch(name)}*")

    def pack(values)
      values = values.map { |value| value ? 1 : 0 } if name == "bool"
      bytes = values.pack(@format)
      exact = %w[f32 f64].include?(name) || bytes.unpack(@format) == values # Array#pack truncates integers.
      exact ? bytes : raise(RangeError, "expected values of type #{name}")
    end

    def unpack(bytes) = bytes.unpack(@format).map { |value| name == "bool" ? value != 0 : value }
    def to_c(value) = pack([value]).unpack1(@format)
    def from_c(slot) = unpack(slot[0, size])[0]
  end

  # Another type of a program, such as context.types["point"].
  class Type
    attr_reader :context, :name, :kind, :rank

    def initialize(context, json)
      @context, @json = context, json
      @name, @kind, @rank = json.values_at("name", "kind", "rank")
    end

    def inspect = "#<#{self.class} #{name}>"
    def element = context.type(@json["element"])
    def fields = @json.fetch("fields").to_h { |field| [field["name"].to_sym, context.type(field["type"])] }
    def variants = @json.fetch("variants").to_h { |it| [it["name"].to_sym, it["payload"].map { |part| context.type(part) }] }

    # Creates a record from its fields, in order or by name, a value of a sum type from a variant and its payload, an array
    # of records from an array per field, or an array of scalars from nested arrays, or from flat data and a shape.
    def new(*data)
      case kind
      when "array" then array(*data)
      when "record_array" then run("zip", *data)[0]
      when "sum" then run("construct", *data.drop(1), part: variants.keys.index(data[0]))[0]
      else run("new", *(data[0].is_a?(Hash) ? data[0].fetch_values(*fields.keys) : data))[0]
      end
    end

    # Creates a value from what `store` has returned, for the same type and program: C cannot check it.
    def restore(bytes) = Value.new(self, run("restore", bytes))
    # An argument is a value, or data for `new`: [[1, 2], [3, 4]], [:circle, 2.0], { x: 1, y: 2 }.
    def to_c(data) = data.is_a?(Value) ? data : data.is_a?(Array) && kind != "array" ? new(*data) : new(data)
    def from_c(slot) = Value.new(self, Fiddle::Pointer.new(slot.unpack1("J")))
    def finalizer(pointer) = proc { run("free", pointer) }

    # Calls the C function of an operation; `part` is the index of a field or variant.
    def run(operation, *inputs, part: nil)
      function = @json["functions"].find do |it|
        it["operation"].end_with?(".#{operation}") && part == (it["field"] || it["variant"])
      end
      context.run(function || raise(ArgumentError, "#{name} has no #{operation}, or no such field or variant"), *inputs)
    end

    private def array(values, shape = nil)
      unless shape
        shape = [values.size]
        (rank - 1).times do
          shape << (values[0] || []).size
          raise ArgumentError, "expected rows of equal lengths" if values.any? { |row| row.size != shape.last }
          values = values.flatten(1)
        end
      end
      bytes = values.is_a?(String) ? values : element.pack(values)
      size = shape.reduce(element.size, :*) # The library does not know the size of the data.
      raise ArgumentError, "expected #{size} bytes, got #{bytes.bytesize}" if bytes.bytesize != size
      Value.new(self, run("new", bytes, *shape))
    end
  end

  # A value of the library. The garbage collector frees it, but does not see how large it is: call `free` for large ones.
  class Value
    attr_reader :type, :to_ptr # Fiddle calls to_ptr.

    def initialize(type, pointer)
      @type, @to_ptr = type, pointer
      ObjectSpace.define_finalizer(self, type.finalizer(pointer))
    end

    def free
      ObjectSpace.undefine_finalizer(self)
      pointer, @to_ptr = to_ptr, Fiddle::NULL
      type.run("free", pointer)
    end

    def store
      run("store", nil, size = "\0" * 8)
      ("\0".b * size.unpack1("J")).tap { |bytes| run("store", Fiddle::Pointer[bytes].ref, size) }
    end

    # Arrays: the elements are in row-major order.
    def shape = run("shape")[0, 8 * type.rank].unpack("q*")
    def at(*indices) = run("index", *indices)[0]
    def to_bytes = ("\0".b * shape.reduce(type.element.size, :*)).tap { |bytes| run("values", bytes) }
    def to_a = type.element.unpack(to_bytes)

    # Records, and arrays of records: tuples have the fields :"0", :"1" and so on. Patterns are {x:, y:} and [x, y].
    def [](field) = run("project", part: type.fields.keys.index(field))[0]
    def to_h = type.fields.keys.to_h { |field| [field, self[field]] }
    def deconstruct_keys(_fields) = to_h
    def deconstruct = type.kind == "sum" ? [variant, *payload] : to_h.values

    # Sum types: a pattern is [:circle, radius].
    def variant = type.variants.keys[run("variant")]
    def payload(variant = self.variant) = run("destruct", part: type.variants.keys.index(variant))
    private def run(operation, *inputs, part: nil) = type.run(operation, self, *inputs, part: part)
  end

  # A loaded program. Its entry points are methods.
  class Context
    FUNCTIONS = ["void *futhark_context_config_new()", "void futhark_context_config_free(void *cfg)",
                 "void *futhark_context_new(void *cfg)", "void futhark_context_free(void *ctx)",
                 "int futhark_context_sync(void *ctx)", "int futhark_context_clear_caches(void *ctx)",
                 "char *futhark_context_get_error(void *ctx)", "void free(void *text)"]
    attr_reader :entry_points, :types, :to_ptr

    # The prefix DIR/prog means DIR/libprog.so and DIR/prog.resolved.json.
    def initialize(prefix)
      directory, name = File.split(File.expand_path(prefix))
      program = JSON.parse(File.read("#{directory}/#{name}.resolved.json"))
      raise Error, "expected format version 2" if program["format_version"] != 2
      @by_index = program["types"].map { |json| Type.new(self, json) }
      scalars = program["scalars"].map { |key, scalar| Scalar.new(key, scalar["size"]) }
      @types = (scalars + @by_index).to_h { |type| [type.name, type] }
      @entry_points = program["entry_points"].to_h { |entry| [entry["name"], entry] }
      functions = (program["types"].flat_map { |type| type["functions"] } + entry_points.values.map { |it| it["function"] })
      @c = Module.new.extend(Fiddle::Importer)
      @c.dlload("#{directory}/lib#{name}.#{RbConfig::CONFIG["SOEXT"]}")
      @c.typealias("bool", "unsigned char")
      (FUNCTIONS + functions.map { |it| it["declaration"] }).each { |it| @c.extern(it.gsub(/const |;/, "")) }
      config = @c["futhark_context_config_new"].call
      @to_ptr = @c["futhark_context_new"].call(config)
      @c["futhark_context_config_free"].call(config)
      to_ptr.free = @c["futhark_context_free"]
      (text = error) && raise(Error, text)
    end

    def inspect = "#<#{self.class}>"
    def method_missing(name, ...) = entry_points.key?(name.to_s) ? call(name.to_s, ...) : super
    def type(reference) = @types[reference["scalar"]] || @by_index[reference["type"]]
    def clear_caches = check(@c["futhark_context_clear_caches"].call(self).zero?)
    def sync = check(@c["futhark_context_sync"].call(self).zero?)

    # Calls an entry point. A tuple, or several results, are an Array.
    def call(name, *arguments)
      entry = entry_points.fetch(name)
      results = run(entry["function"], *arguments)
      results = results[0].deconstruct if entry["result"]["form"] == "tuple"
      results.size > 1 ? results : results[0]
    end

    # Calls a function of the resolved manifest. Its inputs are the parameters other than the context and the results.
    def run(function, *inputs)
      expected = function["parameters"].count { |parameter| !%w[context output].include?(parameter["role"]) }
      raise ArgumentError, "expected #{expected} values, got #{inputs.size}" if inputs.size != expected
      outputs = []
      arguments = function["parameters"].map do |parameter|
        case parameter["role"]
        when "context" then self
        when "output" then outputs.push([type(parameter["type"]), "\0" * 8]).last[1]
        when "argument", "field", "payload" then type(parameter["type"]).to_c(inputs.shift)
        else inputs.shift
        end
      end
      result = @c[function["name"]].call(*arguments)
      case function["returns"]
      when "status" then check(result.zero?) && outputs.map { |type, slot| type.from_c(slot) }
      when "variant" then check(result >= 0) && result
      else check(!result.null?) && result
      end
    end

    private

    def check(success) = success || raise(Error, error || "failed without a message")

    def error
      text = @c["futhark_context_get_error"].call(self)
      text.null? ? nil : text.to_s.force_encoding("UTF-8").chomp.tap { @c["free"].call(text) }
    end
  end
end
