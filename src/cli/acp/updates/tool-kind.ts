/**
 * What kind of tool a call is of, for the icon that an editor draws. Guessed from the tool's name, because the feed says
 * nothing else; so it is never used where something is decided (see `permissionKind`).
 */
import type { ToolKind } from '@agentclientprotocol/sdk';

const verbs: [ToolKind, string][] = [
  ['delete', 'delete remove drop destroy purge erase clear'],
  ['move', 'move rename transfer'],
  ['edit', 'create add update edit write set put patch insert save assign book'],
  ['execute', 'run execute exec start stop restart deploy send call'],
  ['search', 'search find query lookup grep'],
  ['fetch', 'fetch download browse open crawl'],
  ['read', 'get list read show view describe count check status'],
];

const kinds = new Map(
  verbs.flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind] as const)),
);

export function toolKind(toolName: string): ToolKind {
  const own = toolName.split('__').at(-1) ?? toolName;
  const words = own.split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.map((word) => kinds.get(word)).find((kind) => kind !== undefined) ?? 'other';
}

/** Of a call that a person has to approve. Clients let what only reads pass without asking: our guess must not do that. */
export function permissionKind(toolName: string): ToolKind {
  const kind = toolKind(toolName);
  return kind === 'delete' || kind === 'move' || kind === 'edit' ? kind : 'execute';
}
