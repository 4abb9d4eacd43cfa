/** The fields of a form, once its untrusted schema was read. */
export interface Choice {
  value: string;
  title: string;
}

export type Field = { name: string; title: string; description?: string; isRequired: boolean } & Input;

export type Input =
  | TextInput
  | NumberInput
  | { kind: 'boolean'; default?: boolean }
  | { kind: 'choice'; choices: Choice[]; default?: string }
  | ChoicesInput;

export interface TextInput {
  kind: 'text';
  format?: TextFormat;
  minLength?: number;
  maxLength?: number;
  /** An untrusted regular expression: never run it in an engine that backtracks. */
  pattern?: string;
  default?: string;
}

export const textFormats = ['email', 'uri', 'date', 'date-time'] as const;

export type TextFormat = (typeof textFormats)[number];

export interface NumberInput {
  kind: 'number';
  isInteger: boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  default?: number;
}

export interface ChoicesInput {
  kind: 'choices';
  choices: Choice[];
  minItems?: number;
  maxItems?: number;
  default?: string[];
}
