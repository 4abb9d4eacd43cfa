/** A form of the desk: how it is asked, and what came back, checked against it. */
import { fromJsonSchema, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type {
  ElicitRequestFormParams,
  InputRequest,
  JsonSchemaType,
  ServerContext,
} from '@modelcontextprotocol/server';

export type FormSchema = ElicitRequestFormParams['requestedSchema'];

export type Filled<Content> =
  /** Not answered yet. */
  | { kind: 'unasked' }
  | { kind: 'declined' }
  | { kind: 'dismissed' }
  /** Clients check before they send, but not all of them do. */
  | { kind: 'wrong'; content: Record<string, unknown>; problems: string[] }
  | { kind: 'filled'; content: Content };

export interface Form<Content> {
  /** `entered` stands in the fields already, for a person who has to correct something. */
  ask(message: string, entered?: Record<string, unknown>): InputRequest;
  read(context: ServerContext, key: string): Promise<Filled<Content>>;
}

export function defineForm<Content>(schema: FormSchema): Form<Content> {
  const standard = fromJsonSchema<Content>(schema as JsonSchemaType)['~standard'];
  return {
    ask: (message, entered = {}) =>
      inputRequired.elicit({ message, requestedSchema: withDefaults(schema, entered) }),
    async read(context, key) {
      const response = inputResponse(context.mcpReq.inputResponses, key);
      if (response.kind !== 'elicit') return { kind: 'unasked' };
      if (response.action === 'decline') return { kind: 'declined' };
      if (response.action === 'cancel') return { kind: 'dismissed' };
      const content = response.content ?? {};
      const checked = await standard.validate(content);
      return checked.issues
        ? { kind: 'wrong', content, problems: checked.issues.map(({ message }) => message) }
        : { kind: 'filled', content: checked.value };
    },
  };
}

/** A default of the wrong type would make the form itself invalid, so only what fits its field's type is kept. */
function withDefaults(schema: FormSchema, entered: Record<string, unknown>): FormSchema {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const value = entered[name];
    return [name, isOfType(value, property.type) ? { ...property, default: value } : property];
  });
  return { ...schema, properties: Object.fromEntries(properties) as FormSchema['properties'] };
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    default:
      return typeof value === type;
  }
}
