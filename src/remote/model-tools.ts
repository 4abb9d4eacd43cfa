/**
 * Tools as the model sees them. Names are `<server>__<tool>`, cut and cleaned to what every provider accepts (64 characters
 * of letters, digits, `_` and `-`). A changed name contains a digest, so that no two tools share one. A name is resolved by
 * looking it up in the list, not by parsing it.
 */
import { hash } from 'node:crypto';
import type { ServerConfig } from '../platform/config/config.ts';
import type { CatalogueTool } from '../storage/schema/account-tables.ts';

export interface ModelTool {
  modelName: string;
  server: string;
  /** The tool's name at its server; null for `connect_<server>`. */
  tool: string | null;
  description: string;
  inputSchema: Record<string, unknown>;
  readOnly: boolean;
  idempotent: boolean;
  /** Set for a task of a remote agent: its title. */
  delegate?: string;
}

const longest = 64;

export function toModelTool(server: ServerConfig, tool: CatalogueTool): ModelTool {
  const { annotations, description = tool.title ?? tool.name } = tool;
  const readOnly = annotations?.readOnlyHint === true;
  return {
    modelName: modelNameOf(server.name, tool.name),
    server: server.name,
    tool: tool.name,
    description,
    inputSchema: tool.inputSchema,
    readOnly,
    idempotent: readOnly || annotations?.idempotentHint === true,
  };
}

/** Offered instead of the tools of a server that were never listed. */
export function connectTool(server: ServerConfig): ModelTool {
  return {
    modelName: `connect_${server.name}`,
    server: server.name,
    tool: null,
    description:
      server.credentialScope === 'project'
        ? `Makes the tools of ${server.title} available, so call this first whenever the request needs them.`
        : `Connects the user's ${server.title} account. The tools of ${server.title} become available only after that, ` +
          'so call this first whenever the request needs them. The user is asked to agree.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    readOnly: true,
    idempotent: true,
  };
}

export function modelNameOf(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const clean = plain.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  if (clean === plain && plain.length <= longest) return plain;
  const digest = hash('sha256', plain).slice(0, 8);
  return `${clean.slice(0, longest - digest.length - 1)}_${digest}`;
}

/** Empty when the tool belongs to no server. Names of servers are never cut and do not contain `__`. */
export function serverNameIn(modelName: string): string {
  return modelName.slice(0, Math.max(0, modelName.indexOf('__')));
}
