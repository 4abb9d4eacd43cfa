/**
 * Whether a value takes more than so many characters as JSON (escapes not counted). Stops as soon as it is known:
 * the cost is bounded by the limit, not by the value, and no depth of nesting overflows the stack.
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

/** Whether something in a value lies this deep in it: what is read recursively must not be. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
