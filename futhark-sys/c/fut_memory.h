// Host backends: lists the memory of a context, so that a lost one can be freed.
//
// A lost context is never entered again, so the runtime's own teardown cannot run. Instead, the
// hooks of malloc and free (fut_prelude.h) put a header before each block and keep the blocks in a
// list per thread of the context. When a lost context has no values, and its threads have ended, all
// listed blocks are freed.
//
// Not on GPU backends: after a loss, the driver can still copy from or to host memory.

// The conformance program disables it to find leaks and use after free in the generated code.
#ifndef FUT_TRACKS_MEMORY
#define FUT_TRACKS_MEMORY (!FUT_GPU_BACKEND)
#endif

#if FUT_TRACKS_MEMORY

struct fut_heap;

// The size is a multiple of malloc's alignment, so that the memory after it is aligned.
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

// The blocks of one thread of a context. Only that thread modifies the list. All threads that make
// calls share one list, because calls on a context exclude each other.
struct fut_heap {
  struct fut_block blocks;  // the head of a circular list
#if FUT_MULTICORE
  struct fut_block *freed;  // atomic: blocks that other threads freed
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
// Frees a block of another thread's list: its owner unlinks and frees it later.
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

// Frees all blocks. No other thread may use the list.
static void fut_heap_free_all(struct fut_heap *heap) {
  while (heap->blocks.next != &heap->blocks) {
    struct fut_block *b = heap->blocks.next;
    fut_block_unlink(b);
    free(b);
  }
}

#endif
