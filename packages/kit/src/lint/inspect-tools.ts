/**
 * Checks questions in the source of TypeScript tools against the rules of `lint-server`. Values that are only known at
 * run time are not seen here; `elicit()` checks them then.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { inspectForm } from '@interlude-ai/core/elicitation/form/inspect-form.ts';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { findToolFiles } from '@interlude-ai/tools/bundle/tool-files.ts';
import { inspectPage } from './inspect-question.ts';
import { rules } from './rules.ts';
import type { Seen } from './rules.ts';

interface SeenInSource {
  level: 'error' | 'warning';
  /** Contains the file, the line, the question and a remedy. */
  text: string;
}

type Node = Record<string, unknown> & { type: string };

/** Throws `ToolFolderError` if the folder does not exist. */
export async function inspectToolSources(folder: string): Promise<SeenInSource[]> {
  const { parseAst } = await import('rolldown/parseAst');
  const files = await findToolFiles(path.resolve(folder));
  const seen = files.modules.map(async (file) => {
    const source = await readFile(path.join(files.folder, file), 'utf8');
    const lang = /\.m?ts$/.test(file) ? 'ts' : 'js';
    return inspectSource(parseAst(source, { lang }, file)).map((one) =>
      toSeen(`${file}:${lineAt(source, one.position)}`, one),
    );
  });
  return (await Promise.all(seen)).flat();
}

interface Found {
  /** Of the call in the source. */
  position: number;
  question: string;
  finding: Seen;
}

function lineAt(source: string, position: number): number {
  return source.slice(0, position).split('\n').length;
}

function toSeen(place: string, { question, finding: { rule, message } }: Found): SeenInSource {
  const { level, remedy } = rules[rule];
  // `elicit()` refuses the question, so it is an error.
  const isRefused = level === 'error' || rule === 'url-not-https';
  return {
    level: isRefused ? 'error' : 'warning',
    text: `${place}: elicit(${JSON.stringify(question)}): ${message} ${remedy}`,
  };
}

function inspectSource(program: unknown): Found[] {
  const nodes = [...nodesIn(program)];
  const declared = new Map(
    nodes.flatMap(({ type, id, init }): [string, unknown][] =>
      type === 'VariableDeclarator' && isNode(id) && id.type === 'Identifier' ? [[nameOf(id), init]] : [],
    ),
  );
  return nodes.filter(isElicit).flatMap((call) => {
    const [message, schema, options] = argumentsOf(call);
    const question = textIn(message) ?? '…';
    const page = propertiesOf(options).find(([name]) => name === 'url')?.[1];
    const url = textIn(isFunction(page) ? returned(page) : page);
    // An address that begins with an expression is unknown.
    const findings =
      page === undefined
        ? inspectForm({ message: question, requestedSchema: formIn(schema, declared) })
        : url !== undefined && /^[a-z]+:/i.test(url)
          ? inspectPage({ url })
          : [];
    return findings.map((finding) => ({ position: Number(call['start']), question, finding }));
  });
}

/**
 * A schema with the names, titles and descriptions of `z.object({ … })`. Kinds that cannot hold a secret become
 * booleans.
 */
function formIn(schema: unknown, declared: ReadonlyMap<string, unknown>): Record<string, unknown> | null {
  const written = isNode(schema) && schema.type === 'Identifier' ? declared.get(nameOf(schema)) : schema;
  const object = callsOf(written).find(({ name }) => /^(?:object|strictObject|looseObject)$/.test(name));
  if (!object) return null;
  const properties = propertiesOf(object.given[0]).map(([name, field]) => {
    const calls = callsOf(field);
    const isTyped = !calls.some((call) => /^(?:boolean|enum|array|literal|stringbool)$/.test(call.name));
    const description = calls.find((call) => call.name === 'describe')?.given[0];
    const meta = new Map(propertiesOf(calls.find((call) => call.name === 'meta')?.given[0]));
    const words = {
      title: textIn(meta.get('title')),
      description: textIn(description ?? meta.get('description')),
    };
    const given = Object.entries(words).filter(([, text]) => text !== undefined);
    return [name, { type: isTyped ? 'string' : 'boolean', ...Object.fromEntries(given) }];
  });
  return { type: 'object', properties: Object.fromEntries(properties) as Record<string, unknown> };
}

/** `z.string().min(1).describe('…')` consists of the calls `string`, `min` and `describe`, in any order. */
function callsOf(expression: unknown): { name: string; given: unknown[] }[] {
  const calls = [];
  for (let at = expression; isNode(at);) {
    if (at.type === 'CallExpression') {
      const { callee } = at;
      if (!isNode(callee) || callee.type !== 'MemberExpression') break;
      calls.push({ name: nameOf(callee['property']), given: argumentsOf(at) });
      at = callee['object'];
    } else if (at.type === 'MemberExpression') at = at['object'];
    else break;
  }
  return calls;
}

function isElicit({ type, callee }: Node): boolean {
  if (type !== 'CallExpression' || !isNode(callee)) return false;
  return nameOf(callee.type === 'MemberExpression' ? callee['property'] : callee) === 'elicit';
}

/** The text as far as it is a literal; other parts are `x`. */
function textIn(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node.type === 'TemplateLiteral')
    return (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('x');
  if (node.type === 'BinaryExpression')
    return `${textIn(node['left']) ?? 'x'}${textIn(node['right']) ?? 'x'}`;
  return undefined;
}

function returned({ body }: Node): unknown {
  if (!isNode(body) || body.type !== 'BlockStatement') return body;
  return [...nodesIn(body)].find(({ type }) => type === 'ReturnStatement')?.['argument'];
}

function* nodesIn(value: unknown): Generator<Node> {
  if (isNode(value)) yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) yield* nodesIn(member);
}

function propertiesOf(node: unknown): [string, unknown][] {
  const properties = isNode(node) && node.type === 'ObjectExpression' ? node['properties'] : [];
  return (properties as Node[]).flatMap(({ type, key, value }): [string, unknown][] =>
    type === 'Property' ? [[nameOf(key), value]] : [],
  );
}

function argumentsOf(call: Node): unknown[] {
  return call['arguments'] as unknown[];
}

function nameOf(node: unknown): string {
  const name = isNode(node) ? (node['name'] ?? node['value']) : undefined;
  return typeof name === 'string' ? name : '';
}

function isFunction(node: unknown): node is Node {
  return isNode(node) && /^(?:ArrowFunction|Function)Expression$/.test(node.type);
}

function isNode(value: unknown): value is Node {
  return isRecord(value) && typeof value['type'] === 'string';
}
