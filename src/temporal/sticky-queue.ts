/**
 * How long a workflow's next task waits for the worker that has the workflow in its cache. A task for a worker that was
 * killed just now goes to another one after this long (one that shuts down says so). It has to stay well below the ten
 * seconds that a new message waits for the turn before it; below the length of a burst's queue, turns that only wait their
 * turn would be replayed elsewhere, and each replay lengthens the queue (docs/performance.md, `burst`).
 */
export const stickyQueueScheduleToStartTimeout = '6s';
