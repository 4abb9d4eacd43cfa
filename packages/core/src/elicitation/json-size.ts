/**
 * Whether a value has more than `limit` characters as JSON (escapes not counted). Stops as soon as that is known: the cost
 * depends on the limit, not on the value, and deep nesting does not overflow the stack.
 */
export function isLargerThan(value: unknown, limit: number): boolean {
  let left = limit;
  const unread = [value];
  while (unread.length > 0) {
    const next = unread.pop();
    if (typeof next === 'string') left -= next.length + 2;
    else if (typeof next !== 'object' || next === null) left -= String(next).length;
    else if (Array.isArray(next)) {
      left -= 2 + next.length;
      if (left >= 0) for (const item of next) unread.push(item);
    } else {
      for (const name of Object.keys(next)) {
        left -= name.length + 4;
        if (left < 0) return true;
        unread.push((next as Record<string, unknown>)[name]);
      }
    }
    if (left < 0) return true;
  }
  return false;
}

/** Whether a value is nested deeper than this. Check it before reading a value recursively. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
