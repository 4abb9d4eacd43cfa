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
      for (const [name, member] of Object.entries(next)) {
        left -= name.length + 4;
        unread.push(member);
      }
    }
    if (left < 0) return true;
  }
  return false;
}
