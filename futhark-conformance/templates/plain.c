#include "{{ header }}"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int held, const char *what) {
  if (!held)
    printf("wrong: %s\n", what);
}

/* Whether all bytes still have their initial value. */
static int untouched(const void *memory, size_t size) {
  const unsigned char *bytes = memory;
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != 0xa5)
      return 0;
  return 1;
}

/* Fills memory with different elements; booleans are 0 or 1. */
static void pattern(void *memory, size_t size, int truth) {
  unsigned char *bytes = memory;
  for (size_t i = 0; i < size; i++)
    bytes[i] = truth ? (i * 5 / 3) & 1 : 17 * i + 3;
}

/* After a failed call: the message must be reported once, and a sync must succeed. */
static void has_message(struct futhark_context *ctx, const char *what) {
  char *message = futhark_context_get_error(ctx);
  if (message == NULL || message[0] == 0)
    printf("wrong: %s failed without a message\n", what);
  free(message);
  message = futhark_context_get_error(ctx);
  if (message != NULL)
    printf("wrong: the failure of %s is reported twice: %s\n", what, message);
  free(message);
  if (futhark_context_sync(ctx) != 0)
    printf("wrong: after %s, sync fails\n", what);
}

/* The argument is the number of the call to make; 0 checks the functions of arrays. */
int main(int argc, char **argv) {
  int call = atoi(argv[argc - 1]), passed = 0;
  /* Unbuffered, so that no line is lost if the next call crashes. */
  setvbuf(stdout, NULL, _IONBF, 0);
  struct futhark_context_config *cfg = futhark_context_config_new();
  check(futhark_context_config_set_tuning_param(cfg, "no such parameter", 1) != 0,
        "an unknown tuning parameter was set");
  for (int i = 0; i < futhark_get_tuning_param_count(); i++)
    check(futhark_get_tuning_param_name(i) != NULL && futhark_get_tuning_param_class(i) != NULL,
          "a tuning parameter without a name or a class");
  struct futhark_context *ctx = futhark_context_new(cfg);
  char *start = futhark_context_get_error(ctx);
  if (start != NULL) {
    free(start);
    futhark_context_free(ctx);
    futhark_context_config_free(cfg);
    puts("no context");
    return 0;
  }
{%- for array in arrays %}
  if (call == 0) {
    {{ array.elem.c_type() }} in[{{ array.count() }}], out[{{ array.count() }} + 1], one;
    pattern(in, sizeof in, {{ array.has_booleans() }});
    {{ array.ty.ctype }} v = {{ array.ops.new }}(ctx, in{% for extent in array.shape %}, {{ extent }}{% endfor %});
    check(v != NULL, "new returned no {{ array.ty.c_ident() }}");
  {%- for extent in array.shape %}
    check({{ array.ops.shape }}(ctx, v)[{{ loop.index0 }}] == {{ extent }},
          "the shape of {{ array.ty.c_ident() }} in dimension {{ loop.index0 }}");
  {%- endfor %}
    memset(out, 0xa5, sizeof out);
    check({{ array.ops.values }}(ctx, v, out) == 0 && futhark_context_sync(ctx) == 0,
          "values of {{ array.ty.c_ident() }} failed");
    check(memcmp(in, out, sizeof in) == 0, "the values of {{ array.ty.c_ident() }}");
    check(untouched(&out[{{ array.count() }}], sizeof one), "values of {{ array.ty.c_ident() }} wrote beyond its elements");
  {%- if let Some(index) = array.ops.index %}
    check({{ index }}(ctx, &one, v{% for extent in array.shape %}, {{ extent - 1 }}{% endfor %}) == 0 && futhark_context_sync(ctx) == 0 &&
              memcmp(&one, &in[{{ array.count() }} - 1], sizeof one) == 0,
          "the last element of {{ array.ty.c_ident() }}");
    {%- for (outside, what) in array.outside %}
    memset(&one, 0xa5, sizeof one);
    check({{ index }}(ctx, &one, v{{ outside }}) != 0, "{{ what }} of {{ array.ty.c_ident() }} was accepted");
    has_message(ctx, "{{ what }} of {{ array.ty.c_ident() }}");
    check(untouched(&one, sizeof one), "{{ what }} of {{ array.ty.c_ident() }} wrote to its result");
    {%- endfor %}
  {%- endif %}
    check({{ array.ops.free }}(ctx, v) == 0, "free of {{ array.ty.c_ident() }} failed");
  }
{%- endfor %}
{%- for call in calls %}
  if (call == {{ loop.index }}) {
  {%- for output in call.outputs %}
    {{ output.ctype }} out{{ loop.index0 }};
    memset(&out{{ loop.index0 }}, 0xa5, sizeof out{{ loop.index0 }});
  {%- endfor %}
  {%- for input in call.inputs %}
    static const unsigned char bytes{{ loop.index0 }}[] = { {{- input.bytes -}} };
    {%- if let Some(ops) = input.array %}
    {{ input.ctype }} in{{ loop.index0 }} = {{ ops.new }}(ctx, (const void *)bytes{{ loop.index0 }}{{ input.dims }});
    {%- else %}
    {{ input.ctype }} in{{ loop.index0 }};
    memcpy(&in{{ loop.index0 }}, bytes{{ loop.index0 }}, sizeof in{{ loop.index0 }});
    {%- endif %}
  {%- endfor %}
    if ({{ call.cfun }}(ctx
  {%- for _ in call.outputs %}, &out{{ loop.index0 }}{% endfor %}
  {%- for _ in call.inputs %}, in{{ loop.index0 }}{% endfor %}) == 0 && futhark_context_sync(ctx) == 0) {
      passed = {{ call.must_fail_number() }};
  {%- for output in call.outputs %}
    {%- if output.is_boolean %}
      {%- if let Some((ops, rank)) = output.array %}
      size_t count{{ loop.index0 }} = 1;
      for (int i = 0; i < {{ rank }}; i++)
        count{{ loop.index0 }} *= {{ ops.shape }}(ctx, out{{ loop.index0 }})[i];
      unsigned char *truth{{ loop.index0 }} = calloc(count{{ loop.index0 }} + 1, 1);
      {{ ops.values }}(ctx, out{{ loop.index0 }}, (void *)truth{{ loop.index0 }});
      futhark_context_sync(ctx);
      {%- else %}
      size_t count{{ loop.index0 }} = 1;
      const unsigned char *truth{{ loop.index0 }} = (const void *)&out{{ loop.index0 }};
      {%- endif %}
      for (size_t i = 0; i < count{{ loop.index0 }}; i++)
        check(truth{{ loop.index0 }}[i] <= 1, "a boolean of result {{ loop.index0 }} is neither 0 nor 1");
    {%- endif %}
  {%- endfor %}
    } else {
      has_message(ctx, "the call");
  {%- for _ in call.outputs %}
      check(untouched(&out{{ loop.index0 }}, sizeof out{{ loop.index0 }}), "the call wrote to its result {{ loop.index0 }}");
  {%- endfor %}
    }
  {%- for input in call.inputs %}
    {%- if let Some(ops) = input.array %}
    {{ ops.free }}(ctx, in{{ loop.index0 }});
    {%- endif %}
  {%- endfor %}
  }
{%- endfor %}
  char *report = futhark_context_report(ctx);
  check(report != NULL && report[0] == '{', "the report is not a JSON object");
  free(report);
  check(futhark_context_clear_caches(ctx) == 0, "clearing the caches failed");
  check(futhark_context_sync(ctx) == 0, "sync fails at the end");
  check(futhark_context_get_error(ctx) == NULL, "an error is left at the end");
  futhark_context_free(ctx);
  futhark_context_config_free(cfg);
  puts(passed ? "passed" : "done");
  return 0;
}
