// multicore only: stops all threads of the runtime when one of them fails fatally.
//
// A failure is fatal if the runtime would end the process. Missing memory for arrays is not
// fatal: the runtime returns it as an error (see fut_hooks.h).
//
// A thread that fails fatally marks the crew as dead, releases its mutexes and stops. Every other worker calls
// pthread_mutex_lock or pthread_cond_wait before it takes or passes on work; these hooks test the
// mark, release all mutexes and stop the worker, too. The thread of the call waits until all workers
// have stopped, and only then jumps, so that no thread writes to the skipped frames. Before the jump,
// the workers return from their start function and are joined. Therefore a lost context has no
// threads, and only values in Rust use its memory.

struct fut_worker {
  struct fut_crew *crew;
  struct fut_worker *next;
  void *(*run)(void *);
  void *argument;
  pthread_cond_t *waiting;  // atomic: the condition that it waits for, or NULL
  jmp_buf end;
  struct fut_text text;
#if FUT_TRACKS_MEMORY
  struct fut_heap heap;
#endif
  pthread_t thread;  // only used by the thread of the call
  bool joined;       // only used by the thread of the call
};

FUT_INLINE int fut_crew_is_dead(struct fut_crew *crew) {
  return __atomic_load_n(&crew->dead, __ATOMIC_ACQUIRE);
}

static void fut_crew_mark_dead(struct fut_crew *crew, const char *why, const char *said) {
  pthread_mutex_lock(&crew->mutex);
  if (!crew->dead) {
    snprintf(crew->why, sizeof crew->why, "%s", why);
    snprintf(crew->said, sizeof crew->said, "%s", said);
    __atomic_store_n(&crew->dead, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&crew->mutex);
}

static void fut_release_mutexes(void) {
  while (fut_self.n_held > 0)
    pthread_mutex_unlock(fut_self.held[--fut_self.n_held]);
}

// Stops a worker: waits until the call has ended, then returns from the start function by a jump
// within the stack of this thread.
_Noreturn static void fut_worker_stop(const char *why, const char *said) {
  struct fut_worker *w = fut_self.worker;
  struct fut_crew *crew = w->crew;
  if (__atomic_load_n(&crew->lent, __ATOMIC_ACQUIRE))
    fut_end_process(why, said);
  fut_crew_mark_dead(crew, why, said);
  fut_release_mutexes();
  pthread_mutex_lock(&crew->mutex);
  crew->parked++;
  pthread_cond_broadcast(&crew->changed);
  while (!crew->released)
    pthread_cond_wait(&crew->changed, &crew->mutex);
  pthread_mutex_unlock(&crew->mutex);
  _longjmp(w->end, 1);
}

// Stops all workers, on the thread of the call; returns when they have ended.
static void fut_crew_stop(struct fut_context *c, const char *why, const char *said) {
  struct fut_crew *crew = &c->crew;
  fut_crew_mark_dead(crew, why, said);
  fut_release_mutexes();
  pthread_mutex_lock(&crew->mutex);
  while (crew->parked < crew->size) {
    // A worker can test the mark just before it begins to wait, so wake all waiting workers
    // repeatedly until all have stopped.
    for (struct fut_worker *w = crew->workers; w != NULL; w = w->next) {
      pthread_cond_t *sleeping_on = __atomic_load_n(&w->waiting, __ATOMIC_ACQUIRE);
      if (sleeping_on != NULL)
        pthread_cond_broadcast(sleeping_on);
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&crew->changed, &crew->mutex, &until);
  }
  crew->released = 1;
  pthread_cond_broadcast(&crew->changed);
  pthread_mutex_unlock(&crew->mutex);
  for (struct fut_worker *w = crew->workers; w != NULL; w = w->next)
    if (!w->joined)
      w->joined = pthread_join(w->thread, NULL) == 0;
}

// Stops this thread if another one has failed.
static void fut_check_crew(void) {
  if (fut_self.worker != NULL) {
    if (FUT_UNLIKELY(fut_crew_is_dead(fut_self.worker->crew)))
      fut_worker_stop("", "");
  } else if (fut_self.guard != NULL) {
    if (FUT_UNLIKELY(fut_crew_is_dead(&fut_self.guard->context->crew)))
      fut_fatal("a worker thread died");
  }
}

// The locks by which the generated functions exclude each other, of contexts that are not lent. The caller of a wrapper
// excludes other calls already (futhark_table.h), so wrappers skip the lock: it would take longer than a short call, as would
// to look it up by the thread. Workers never use it. A context whose place is taken takes its lock.
#define FUT_IDLE_LOCKS 64
static const pthread_mutex_t *fut_idle_locks[FUT_IDLE_LOCKS];  // atomic

FUT_INLINE const pthread_mutex_t **fut_idle_place(const pthread_mutex_t *m) {
  return &fut_idle_locks[((uintptr_t)m >> 4 ^ (uintptr_t)m >> 12) % FUT_IDLE_LOCKS];
}

static void fut_set_idle(const pthread_mutex_t *m, bool idle) {
  const pthread_mutex_t *before = idle ? NULL : m;
  __atomic_compare_exchange_n(fut_idle_place(m), &before, idle ? m : NULL, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

FUT_INLINE bool fut_is_idle_lock(const pthread_mutex_t *m) {
  return __atomic_load_n(fut_idle_place(m), __ATOMIC_RELAXED) == m;
}

static int fut_mutex_lock_tracked(pthread_mutex_t *m) {
  fut_check_crew();
  // A mutex that is not in the list would stay locked if this thread failed.
  if (FUT_UNLIKELY(fut_self.n_held == FUT_MAX_HELD))
    fut_fatal("a thread of the runtime holds more mutexes than futhark-sys can track");
  // Cannot block for ever: a thread that fails releases its mutexes.
  int err = pthread_mutex_lock(m);
  if (err == 0)
    fut_self.held[fut_self.n_held++] = m;
  fut_check_crew();
  return err;
}

static int fut_mutex_unlock_tracked(pthread_mutex_t *m) {
  for (uint32_t i = fut_self.n_held; i-- > 0;)
    if (fut_self.held[i] == m) {
      fut_self.held[i] = fut_self.held[--fut_self.n_held];
      break;
    }
  return pthread_mutex_unlock(m);
}

// The time in 50 ms. Spurious wake-ups are allowed: callers test their condition again.
static struct timespec fut_soon(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  return until;
}

static int fut_wait_a_little(pthread_cond_t *c, pthread_mutex_t *m) {
  struct timespec until = fut_soon();
  int err = pthread_cond_timedwait(c, m, &until);
  return err == ETIMEDOUT ? 0 : err;
}

static int fut_thread_join(pthread_t thread, void **result) {
#if defined(__linux__)
  int err = ETIMEDOUT;
  while (err == ETIMEDOUT) {
    struct timespec until = fut_soon();
    err = pthread_timedjoin_np(thread, result, &until);
    if (err == ETIMEDOUT)
      fut_check_crew();
  }
#else
  int err = pthread_join(thread, result);
#endif
  if (err == 0 && fut_self.guard != NULL)
    for (struct fut_worker *w = fut_self.guard->context->crew.workers; w != NULL; w = w->next)
      if (!w->joined && pthread_equal(w->thread, thread))
        w->joined = true;
  return err;
}

static int fut_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  struct fut_worker *w = fut_self.worker;
  if (w != NULL)
    __atomic_store_n(&w->waiting, c, __ATOMIC_RELEASE);
  fut_check_crew();
  // No thread wakes the thread of the call when a worker fails, so it polls.
  int err = w != NULL ? pthread_cond_wait(c, m) : fut_wait_a_little(c, m);
  if (w != NULL)
    __atomic_store_n(&w->waiting, NULL, __ATOMIC_RELEASE);
  fut_check_crew();
  return err;
}

static void *fut_worker_start(void *argument) {
  struct fut_worker *w = argument;
  fut_self.worker = w;
  fut_self.text = &w->text;
  if (FUT_SETJMP(w->end) != 0)
    return NULL;
  void *result = w->run(w->argument);
  if (w->text.length != 0)
    fut_flush_text(&w->text);
  // Counts as stopped, in case the call fails after the normal end of this worker.
  pthread_mutex_lock(&w->crew->mutex);
  w->crew->parked++;
  pthread_cond_broadcast(&w->crew->changed);
  pthread_mutex_unlock(&w->crew->mutex);
  return result;
}

// Threads are created with the context, inside its guard.
static int fut_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument) {
  struct fut_guard *g = fut_self.guard;
  if (g == NULL)
    return pthread_create(thread, attr, run, argument);
  struct fut_crew *crew = &g->context->crew;
  struct fut_worker *w = calloc(1, sizeof *w);
  if (w == NULL) {
    __atomic_store_n(&g->context->memory, 1, __ATOMIC_RELAXED);
    return ENOMEM;
  }
  w->crew = crew;
  w->run = run;
  w->argument = argument;
  w->text.log = &g->context->log;
#if FUT_TRACKS_MEMORY
  w->heap.of_worker = true;
  fut_heap_init(&w->heap);
#endif
  int err = pthread_create(thread, attr, fut_worker_start, w);
  if (err != 0) {
    free(w);
    return err;
  }
  w->thread = *thread;
  w->next = crew->workers;
  crew->workers = w;
  crew->size++;
  return 0;
}

static void fut_crew_free(struct fut_crew *crew) {
  while (crew->workers != NULL) {
    struct fut_worker *next = crew->workers->next;
    free(crew->workers);
    crew->workers = next;
  }
}

FUT_INLINE int fut_mutex_lock(pthread_mutex_t *m) { return fut_is_idle_lock(m) ? 0 : fut_mutex_lock_tracked(m); }
FUT_INLINE int fut_mutex_unlock(pthread_mutex_t *m) { return fut_is_idle_lock(m) ? 0 : fut_mutex_unlock_tracked(m); }
#define pthread_mutex_lock(m) fut_mutex_lock(m)
#define pthread_mutex_unlock(m) fut_mutex_unlock(m)
#define pthread_cond_wait(c, m) fut_cond_wait(c, m)
#undef pthread_create
#define pthread_create(t, a, f, x) fut_thread_create(t, a, f, x)
#define pthread_join(t, r) fut_thread_join(t, r)
