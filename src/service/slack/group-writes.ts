/**
 * Group commit: what comes while a write is under way goes together with the next one. Each caller hears of the write
 * that theirs was part of.
 */
export function groupWrites<T>(
  mostAtOnce: number,
  write: (items: T[]) => Promise<void>,
): (item: T) => Promise<void> {
  const waiting: { item: T; written: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostAtOnce);
      try {
        await write(group.map(({ item }) => item));
        for (const { written } of group) written.resolve();
      } catch (error) {
        for (const { written } of group) written.reject(error);
      }
    }
    isWriting = false;
  }

  return (item) => {
    const written = Promise.withResolvers<void>();
    waiting.push({ item, written });
    if (!isWriting) void writeAll();
    return written.promise;
  };
}
