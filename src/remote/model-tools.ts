/**
 * Tools as the model sees them. Names are `<server>__<tool>`, cut and cleaned to what every provider accepts
 * (64 characters of letters, digits, `_` and `-`); a name that had to be changed carries a digest, so that two
 * tools never share one. The way back to the tool is the list itself, not the spelling.
 */
import { hash } from 'node:crypto';
import type { ServerConfig } from '../config/config.ts';
import type { CatalogueTool } from '../storage/ports/tool-catalogue.ts';

export interface ModelTool {
  modelName: string;
  /** Key of the server in the agents file. */
  server: string;
  /** The tool's own name at its server; null for `connect_<server>`. */
  tool: string | null;
  description: string;
  inputSchema: Record<string, unknown>;
  readOnly: boolean;
  idempotent: boolean;
  /** Title of the remote agent that this is a task for. */
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

/** Stands in for the tools of a server that nobody has listed yet. */
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

/** Of a tool with this name, if it is a server's: names of servers are never cut, and have no two underscores in a row. */
export function serverNameIn(modelName: string): string {
  return modelName.slice(0, Math.max(0, modelName.indexOf('__')));
}
