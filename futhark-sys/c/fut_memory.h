// Host backends: which memory a context holds, so that a lost one can be freed.
//
// A lost context is never entered again, so the runtime's own teardown cannot run. Instead the
// hooks around malloc and free (fut_prelude.h) put a header before each block and keep the
// blocks in a list per thread of the context. When no value of a lost context is left, and its
// threads have ended, everything on the lists is freed.
//
// Not on GPU backends: after a loss the driver may still copy from or to host memory.

// The conformance program turns it off, to see what the generated code leaks or uses after it
// was freed.
#ifndef FUT_TRACKS_MEMORY
#define FUT_TRACKS_MEMORY (!FUT_GPU_BACKEND)
#endif

#if FUT_TRACKS_MEMORY

struct fut_heap;

// As large as malloc's alignment or a multiple of it, so what follows is aligned as well.
struct fut_block {
  struct fut_block *next;
  struct fut_block *previous;  // NULL: the block is in no list
#if FUT_MULTICORE
  struct fut_heap *heap;
  union {
    size_t size;              // without the header
    struct fut_block *freed;  // the next block in `heap->freed`
  };
#endif
} __attribute__((aligned(16)));

// The blocks of one thread of a context. Only that thread changes the list. The thread of the
// call counts as one thread, whichever it is, since calls on a context exclude each other.
struct fut_heap {
  struct fut_block blocks;  // the head of a circular list
#if FUT_MULTICORE
  struct fut_block *freed;  // atomic: blocks that other threads have freed
  bool of_worker;
#endif
};

static void fut_heap_init(struct fut_heap *heap) {
  heap->blocks.next = heap->blocks.previous = &heap->blocks;
}

static inline void fut_block_link(struct fut_heap *heap, struct fut_block *b) {
  b->next = heap->blocks.next;
  b->previous = &heap->blocks;
  b->next->previous = b;
  heap->blocks.next = b;
#if FUT_MULTICORE
  b->heap = heap;
#endif
}

static inline void fut_block_unlink(struct fut_block *b) {
  b->next->previous = b->previous;
  b->previous->next = b->next;
}

#if FUT_MULTICORE
// From a thread that does not own the list: its owner unlinks and frees the block.
static void fut_heap_push_freed(struct fut_block *b) {
  struct fut_block **top = &b->heap->freed;
  b->freed = __atomic_load_n(top, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(top, &b->freed, b, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

static __attribute__((noinline)) void fut_heap_free_pushed(struct fut_heap *heap) {
  struct fut_block *b = __atomic_exchange_n(&heap->freed, NULL, __ATOMIC_ACQUIRE);
  while (b != NULL) {
    struct fut_block *next = b->freed;
    fut_block_unlink(b);
    free(b);
    b = next;
  }
}
#endif

// Frees every block. No other thread uses the list any more.
static void fut_heap_free_all(struct fut_heap *heap) {
  while (heap->blocks.next != &heap->blocks) {
    struct fut_block *b = heap->blocks.next;
    fut_block_unlink(b);
    free(b);
  }
}

#endif
