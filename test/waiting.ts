/** Lets tests await something that arrives piece by piece. */
export function createWaiting() {
  const looks = new Set<() => void>();
  let reason: (() => Error) | undefined;
  const wake = () => looks.forEach((look) => look());
  return {
    /** Something has arrived. */
    wake,
    /** Nothing more will arrive: rejects what is still awaited, and what will be. */
    end(why: () => Error) {
      reason ??= why;
      wake();
    },
    /** Asks `find` at once and whenever something has arrived, until its result is not undefined, null or false. */
    until: <T>(find: () => T | undefined | null | false): Promise<T> =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = find();
          if (found !== undefined && found !== null && found !== false) resolve(found);
          else if (reason) reject(reason());
          else return;
          looks.delete(look);
        };
        looks.add(look);
        look();
      }),
  };
}
