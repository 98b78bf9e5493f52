# Tests the bridge examples/ruby/futhark.rb: ruby drive.rb DIR/everything DIR/negative_size
# These are the hardened libraries of programs/bridges/everything.fut and programs/kills/negative_size.fut.

require_relative "../../examples/ruby/futhark"

def expect(actual, expected) = actual == expected || raise("expected #{expected.inspect}, got #{actual.inspect}")

# The message of the error that the block raises.
def refused(error = Futhark::Error)
  yield
rescue error => problem
  problem.message
else
  raise "expected #{error}"
end

def expect_refused(pattern, error = Futhark::Error, &block)
  text = refused(error, &block)
  pattern.match?(text) || raise("expected #{pattern.inspect}, got #{text}")
end

def resident_megabytes = File.read("/proc/self/status")[/VmRSS:\s*(\d+)/, 1].to_i / 1024

ctx = Futhark::Context.new(ARGV[0])
ints, matrix, point, segment = ctx.types.values_at("[]i32", "[][]i32", "point", "segment")

# Scalars and arrays
expect ctx.scalars(127, 32_767, 2**31 - 1, 2**63 - 1, 255, 65_535, 2**32 - 1, 2**64 - 1, 0x3800, 0.5, 0.5, true),
       [-128, -32_768, -2**31, -2**63, 0, 0, 0, 0, 0x3e00, 1.5, 1.5, false]
expect_refused(/type i32/, RangeError) { ctx.divided(2**31, 1) }
transposed = ctx.transposed(matrix.new([[1, 2, 3], [4, 5, 6]]))
expect [transposed.shape, transposed.to_a, transposed.at(2, 0)], [[3, 2], [1, 4, 2, 5, 3, 6], 3]
expect ctx.transposed(matrix.new([], [2, 0])).shape, [0, 2]
expect_refused(/equal lengths/, ArgumentError) { matrix.new([[1], [2, 3]]) }
expect_refused(/expected 24 bytes/, ArgumentError) { matrix.new([1], [2, 3]) }
expect_refused(/negative/) { matrix.new([1], [-1, -1]) }
expect ctx.flipped([[[true, false]]]).to_a, [false, true]
expect ctx.call("+++", 1, 2), 3

# Records, tuples and sums
line = segment.new(from: { x: 0, y: 0 }, to: point.new(3, 4))
expect ctx.segment_length(line), 5.0
expect ctx.turned(line)[:from].to_h, { x: 3.0, y: 4.0 }
ctx.turned(line)[:to] => { x:, y: }
expect [x, y], [0.0, 0.0]
expect [ctx.range([4, -1, 9]), ctx.width([1, 5])], [[-1, 9], 4]
grown = [[:circle, 2.0], [:label, 1, false], [:lit, :red], [:path, [1.0, 2.0]], :point, [:stretch, line]].map { |it| ctx.grown(it) }
expect grown.map(&:variant), %i[circle label lit path point stretch]
grown[0] => [:circle, radius]
expect [radius, grown[1].payload, grown[3].payload[0].to_a], [3.0, [2, true], [2.0, 3.0]]
expect_refused(/variant/) { grown[0].payload(:label) }
mirrored = ctx.mirrored([[1.0, 2.0], [3.0, 4.0]])
expect [mirrored[:x].to_a, mirrored.at(1).to_h], [[3.0, 4.0], { x: 4.0, y: 2.0 }]
expect_refused(/./) { ctx.types["[]point"].new([1.0], [1.0, 2.0]) }
expect point.restore(point.new(1, 2).store).to_h, { x: 1.0, y: 2.0 }

# Errors have the library's text, and the context works afterwards.
expect_refused(/out of bounds/) { ctx.at([1, 2, 3], 10) }
expect_refused(/division by zero/) { ctx.divided(7, 0) }
expect_refused(/invalid sizes/) { ctx.dot([1, 2], [3]) }
expect ctx.dot([1, 2], [3, 4]), 11
expect_refused(/has type point; expected \[\]i32/) { ctx.dot(point.new(1, 2), [1]) }
expect_refused(/not a value of this context/) { Futhark::Context.new(ARGV[0]).dot(ints.new([1]), [1]) }

# Consumption
xs = ints.new([1, 2, 3])
ys = ctx.same(xs)
expect ctx.cleared(ys, 1).to_a, [1, 0, 3]
expect xs.to_a, [1, 2, 3]
expect_refused(/consumed/) { ys.to_a }
expect_refused(/consumed/) { ctx.cleared(ys, 1) }
ys.free
ctx.cleared(ctx.table(0), 0)
expect ctx.table(0).to_a, [10, 20, 30]
xs.free
expect_refused(/NULL/) { ctx.same(xs) }

# The garbage collector frees values: 1.6 GB are allocated.
200.times do
  ctx.same(ints.new("\0" * 8_000_000, [2_000_000]))
  GC.start
end
expect resident_megabytes < 800, true

# Threads, and two libraries in one process
threads = Array.new(4) { |i| Thread.new { Array.new(100) { ctx.dot([i], [2]) } } }
expect threads.map { |thread| thread.value.uniq }, [[0], [2], [4], [6]]
other = Futhark::Context.new(ARGV[1])
expect other.fill(2, 7).to_a, [7, 7]
expect_refused(/negative|size/i) { other.fill(-5, 7) }
expect ctx.answer, 42
puts "passed"
