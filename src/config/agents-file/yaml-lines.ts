import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Document, LineCounter } from 'yaml';

/** The line of what stands at a path of a YAML file, or of what is nearest to it, counted from 1. */
export function lineAt(document: Document, lines: LineCounter, path: PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (!pair) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      if (isScalar(node) || isMap(node)) offset = node.range?.[0] ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}
