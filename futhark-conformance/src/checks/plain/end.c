  char *report = futhark_context_report(ctx);
  check(report != NULL && report[0] == '{', "the report is not a JSON object");
  free(report);
  check(futhark_context_clear_caches(ctx) == 0, "clearing the caches failed");
  check(futhark_context_sync(ctx) == 0, "sync fails at the end");
  check(futhark_context_get_error(ctx) == NULL, "an error is left at the end");
  futhark_context_free(ctx);
  futhark_context_config_free(cfg);
  puts("done");
  return 0;
}
