/** What Slack takes as blocks and views: `block-kit.json`, and what a schema cannot say. It refuses the rest as `invalid_arguments`. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import schema from './block-kit.json' with { type: 'json' };

export type Block = Record<string, unknown> & { type: string };
export interface View {
  type: string;
  blocks: Block[];
  title?: unknown;
  submit?: unknown;
  close?: unknown;
  callback_id?: string;
  private_metadata?: string;
}

type Part = Record<string, unknown>;

// Slack counts UTF-16 units.
const ajv = new Ajv2020({ strict: false, logger: false, unicode: false, schemas: [schema] });

function problemsBy(name: 'view' | 'blocks', given: unknown): string[] {
  const validate = ajv.getSchema(`block-kit#/$defs/${name}`);
  if (!validate) throw new Error(`The schema has no ${name}.`);
  return validate(given)
    ? []
    : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** Each with the place where it is. Empty: Slack takes it. */
export function problemsOfView(view: View): string[] {
  return [
    ...problemsBy('view', view),
    ...(JSON.stringify(view).length > 250_000 ? ['view_too_large'] : []),
    ...problemsAmong(view.blocks),
  ];
}

/** Of a message or a view. */
export function problemsOfBlocks(blocks: Block[]): string[] {
  return [...problemsBy('blocks', blocks), ...problemsAmong(blocks)];
}

function problemsAmong(blocks: Block[]): string[] {
  const ids = blocks.flatMap(({ block_id: id }) => (id === undefined ? [] : [id]));
  const elements = blocks.flatMap(({ element, elements = [] }) => [element ?? [], elements].flat() as Part[]);
  return [
    ...(new Set(ids).size < ids.length ? ['block_id: not unique'] : []),
    ...(elements.every(offersItsInitialOptions) ? [] : ['an initial option is not offered']),
  ];
}

function offersItsInitialOptions({ options, initial_option: one, initial_options: some }: Part): boolean {
  const offered = ((options ?? []) as Part[]).map((option) => JSON.stringify(option));
  const chosen = [one ?? [], some ?? []].flat();
  return chosen.every((option) => offered.includes(JSON.stringify(option)));
}
