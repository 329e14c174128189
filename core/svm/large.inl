// The loop of the dual solver for problems whose kernel rows are built when they are asked for.
//
// Included inside a namespace once per instruction set, after svm/free_steps.inl.

// Solves the problems of a queue, `together` of them (at most kMostInterleaved) at a time.
//
// An iteration is a chain of dependent operations, longer than the processor looks ahead. Each stage is
// therefore done for all the problems at work before the next one: the passes of one problem fill the waiting
// times of another.
static void run_large(DualQueue& queue, DualState* first, int together) {
  DualState* active[kMostInterleaved];
  const float *row_i[kMostInterleaved], *row_j[kMostInterleaved];
  double step[kMostInterleaved];
  int partner[kMostInterleaved], count = 0;
  std::int64_t work = 0;
  for (DualState* next = first;;) {
    for (; next; next = count < together ? queue.next(nullptr) : nullptr) {
      active[count++] = next;
      begin(*next);
    }
    for (int p = 0; p < count;) {
      DualState& s = *active[p];
      if (s.iterations >= s.next_free_step && !finished(s)) free_steps(s);
      if (!finished(s)) {
        ++p;
        continue;
      }
      active[p] = queue.next(&s);
      if (active[p])
        begin(*active[p]);
      else
        active[p] = active[--count];
    }
    if (count == 0) return;
    for (int p = 0; p < count; ++p) {
      DualState& s = *active[p];
      ++s.iterations;
      ++s.rows->clock;
      row_i[p] = row_of(s, s.where);
      partner[p] = partner_pass(s, s.v[s.where], s.diag[s.where], row_i[p]);
    }
    for (int p = 0; p < count; ++p) {
      row_j[p] = row_of(*active[p], partner[p]);
      DualState& s = *active[p];
      const Moved moved = take_step(s, s.where, partner[p], row_i[p]);
      set_bit(s.may_rise, s.where, moved.can_rise & 1);
      set_bit(s.may_fall, s.where, moved.can_fall & 1);
      set_bit(s.may_rise, partner[p], moved.can_rise >> 1);
      set_bit(s.may_fall, partner[p], moved.can_fall >> 1);
      step[p] = moved.step;
    }
    for (int p = 0; p < count; ++p) {
      keep(*active[p], update_pass(*active[p], step[p], row_i[p], row_j[p]));
      work += active[p]->padded;
    }
    if (work > kPollWork) {
      work = 0;
      if (queue.stop_requested()) return;
    }
  }
}
