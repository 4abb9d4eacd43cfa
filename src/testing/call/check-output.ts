/** Whether the result of a tool fits what the tool has said of it. The check is loaded with the first tool that says anything. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { clauses } from './fault.ts';
import type { Fault } from './fault.ts';

/** Null where it fits, where there is nothing that it has to fit, and for a tool's own word that it failed. */
export async function checkOutput(
  { isError, structuredContent }: CallToolResult,
  outputSchema: Record<string, unknown> | undefined,
): Promise<Fault | null> {
  if (!outputSchema || isError === true) return null;
  const breaks = (message: string): Fault => ({ message, clause: clauses.outputSchema });
  if (structuredContent === undefined)
    return breaks('Its result has no structuredContent, and the tool has an outputSchema.');
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(outputSchema);
    const { valid, errorMessage } = validate(structuredContent);
    return valid
      ? null
      : breaks(`Its structuredContent does not fit the outputSchema of the tool: ${errorMessage}.`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return breaks(`The outputSchema of the tool cannot be used: ${why.replace(/\.$/, '')}.`);
  }
}
