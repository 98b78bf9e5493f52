# Executes the commands of `futhark c --server` by means of the bridge, for futhark-conformance: ruby server.rb DIR/prog
require_relative "futhark"

CONTEXT = Futhark::Context.new(ARGV.fetch(0))
VARIABLES = {} # From names to pairs of type and value.

def type(name) = CONTEXT.types.fetch(name) { raise "Unknown type: #{name}" }
def entry(name) = CONTEXT.entry_points.fetch(name) { raise "Unknown entry point: #{name}" }
def types(name, list) = entry(name)[list].map { |it| CONTEXT.type(it["type"]) }
def variable(name) = VARIABLES.fetch(name) { raise "Unknown variable: #{name}" }

def values(names, types)
  raise "expected #{types.size} variables, got #{names.size}" if names.size != types.size
  names.zip(types).map do |name, expected|
    type, value = variable(name)
    type == expected ? value : raise("expected #{expected.name}, got #{type.name}") # Scalars have no type in Ruby.
  end
end

# Assigns the values that the block returns to new variables.
def define(names, types)
  names.each { |name| raise "Variable already exists: #{name}" if VARIABLES.key?(name) }
  raise "expected #{types.size} new variables, got #{names.size}" if names.uniq.size != types.size
  VARIABLES.merge!(names.zip(types.zip(yield)).to_h) && []
end

# Scalars and arrays of scalars have Futhark's binary format.
def header(scalar, rank) = ["b", 2, rank, scalar.name.rjust(4)].pack("aCCa4")

def store(type, value)
  return header(type, 0) + type.pack([value]) if type.is_a?(Futhark::Scalar)
  type.kind == "array" ? header(type.element, type.rank) + value.shape.pack("q*") + value.to_bytes : value.store
end

def restore(file, type)
  if type.is_a?(Futhark::Type) && type.kind != "array"
    start = file.pos
    return type.restore(file.read).tap { |value| file.pos = start + value.store.bytesize }
  end
  scalar, rank = type.is_a?(Futhark::Scalar) ? [type, 0] : [type.element, type.rank]
  raise "expected a value of type #{type.name}" if file.read(7) != header(scalar, rank)
  shape = file.read(8 * rank).unpack("q*")
  bytes = file.read(shape.reduce(scalar.size, :*))
  rank.zero? ? scalar.from_c(bytes) : type.new(bytes, shape)
end

# The lines of the answer to a command.
def execute(command = nil, *words)
  first, second, *rest = words
  case command
  when "types" then CONTEXT.types.keys
  when "entry_points" then CONTEXT.entry_points.keys
  when "inputs", "outputs"
    types(first, command).zip(entry(first)[command]).map { |type, it| "#{"*" if it["consumed"] || it["unique"]}#{type.name}" }
  when "fields" then type(first).fields.map { |field, type| "#{field} #{type.name}" }
  when "variants" then type(first).variants.map { |variant, types| [variant, types.map { |type| "- #{type.name}" }] }
  when "variant" then [variable(first)[1].variant]
  when "call"
    outputs = types(first, "outputs")
    arguments = values(words.drop(1 + outputs.size), types(first, "inputs"))
    define(words[1, outputs.size], outputs) { CONTEXT.run(entry(first)["function"], *arguments).tap { CONTEXT.sync } }
  when "new", "zip" then define([first], [type(second)]) { [type(second).new(*values(rest, type(second).fields.values))] }
  when "construct"
    variant = rest[0].to_sym
    parts = values(rest.drop(1), type(second).variants.fetch(variant))
    define([first], [type(second)]) { [type(second).new(variant, *parts)] }
  when "project"
    type, value = variable(second)
    define([first], [type.fields.fetch(rest[0].to_sym)]) { [value[rest[0].to_sym]] }
  when "unzip" then define(words.drop(1), variable(first)[0].fields.values) { variable(first)[1].deconstruct }
  when "destruct" then execute("destruct_as", first, variable(first)[1].variant, *words.drop(1))
  when "destruct_as"
    type, value = variable(first)
    define(rest, type.variants.fetch(second.to_sym)) { value.payload(second.to_sym) }
  when "free"
    words.each { |name| variable(name) }
    words.map { |name| VARIABLES.delete(name)[1] }.grep(Futhark::Value, &:free) && []
  when "clear" then execute("free", *VARIABLES.keys) && CONTEXT.clear_caches && []
  when "store" then File.binwrite(first, words.drop(1).map { |name| store(*variable(name)) }.join) && []
  when "restore"
    names, types = words.drop(1).partition.with_index { |_, index| index.even? }
    types = types.map { |name| type(name) }
    File.open(first, "rb") do |file|
      define(names, types) { types.map { |it| restore(file, it) }.tap { file.eof? || raise("expected the end of #{first}") } }
    end
  else raise "Unknown command: #{command}"
  end
end

$stdout.sync = true
puts "%%% OK"
$stdin.each_line do |line|
  puts execute(*line.scan(/"([^"]*)"|(\S+)/).flatten.compact), "%%% OK"
rescue StandardError => error
  puts "%%% FAILURE", error.message, "%%% OK"
end
