-- For wrk, with one connection per thread: checks every response. One request in ten fails.

local failures = {
   { path = "/summary", body = "[]", status = 422 },
   { path = "/fill", body = "35184372088832", status = 507 }, -- more than an address space has
   { path = "/lose", body = "", status = 503 },
}
local threads = {}
local current
requests, wrong = 0, 0 -- global, so that `done` can read them

function setup(thread) table.insert(threads, thread) end

function request()
   requests = requests + 1
   if requests % 10 == 0 then
      current = failures[requests / 10 % #failures + 1]
   else
      local x = requests % 1000
      local answer = string.format('{"max":%d.0,"mean":%d.0,"min":%d.0}', x + 5, x + 2, x)
      local body = string.format("[%d,%d,%d]", x, x + 5, x + 1)
      current = { path = "/summary", body = body, status = 200, answer = answer }
   end
   return wrk.format("POST", current.path, { ["Content-Type"] = "application/json" }, current.body)
end

function response(status, _, body)
   if status ~= current.status or body ~= (current.answer or body) then wrong = wrong + 1 end
end

function done()
   local total = 0
   for _, thread in ipairs(threads) do total = total + thread:get("wrong") end
   print("Wrong responses: " .. total)
end
