/** What a form asks for, field by field, once the schema of a stranger has been read. */
export interface Choice {
  value: string;
  title: string;
}

export type Field = { name: string; title: string; description?: string; isRequired: boolean } & Input;

/** What can be filled in, without whose field it is. */
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
  /** A regular expression by a stranger: never hand it to an engine that backtracks. */
  pattern?: string;
  default?: string;
}

export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';

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
