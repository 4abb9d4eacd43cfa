/** What this takes of the processor, in milliseconds of this thread: how busy the machine is does not count. */
export function processorMs(work: () => void): number {
  const begun = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1_000;
}
