/** For each delegation by which a task could come back, the way from its first agent to the same again. */
export function delegationCycles(delegates: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const finished = new Set<string>();
  const visit = (name: string, way: string[]): void => {
    const start = way.indexOf(name);
    if (start !== -1) circles.push([...way.slice(start), name]);
    if (start !== -1 || finished.has(name)) return;
    for (const delegate of new Set(delegates.get(name))) visit(delegate, [...way, name]);
    finished.add(name);
  };
  for (const name of delegates.keys()) visit(name, []);
  return circles;
}
