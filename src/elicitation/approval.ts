/**
 * Whether a person has to approve a tool call before it is sent, and what they are shown of it. Pure: for the agents
 * file, the worker, and every surface.
 */
import type { Context, Remember } from './elicitation.ts';

/** `destructive`: only calls of tools that may destroy something, as far as their server says. */
export const approvalPolicies = ['always', 'never', 'destructive'] as const;
export type ApprovalPolicy = (typeof approvalPolicies)[number];

/** For all tools of a server, or by the tools' own names. */
export type ApprovalSettings =
  | ApprovalPolicy
  | { default: ApprovalPolicy; tools: Record<string, ApprovalPolicy> };

/** What MCP lets a server say of a tool. Nobody checks that it is true. */
export interface ToolHints {
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
}

export function policyFor(settings: ApprovalSettings | undefined, tool: string): ApprovalPolicy {
  if (settings === undefined) return 'never';
  if (typeof settings === 'string') return settings;
  return Object.hasOwn(settings.tools, tool) ? (settings.tools[tool] ?? settings.default) : settings.default;
}

/** A tool without hints counts as destructive, as MCP has it; so does one that its server has not listed. */
export function needsApproval(policy: ApprovalPolicy, hints: ToolHints | undefined): boolean {
  switch (policy) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'destructive':
      return hints?.readOnlyHint !== true && hints?.destructiveHint !== false;
    default:
      return policy satisfies never;
  }
}

/** Whether a question is ours about a tool call, and not a form of a server that happens to have no fields. */
export function isApproval({ trigger }: Pick<Context, 'trigger'> | { trigger: string }): boolean {
  return trigger === 'approval';
}

/** What a person decides with, and what is kept of it beside the action. */
export interface ApprovalDetails {
  remember?: Remember;
  reason?: string;
}

/** What is remembered of a tool of an agent's own stands under a name and a place that no server can have. */
export function ownTool(agent: string, tool: string): { server: string; place: string; tool: string } {
  return { server: ownTools + agent, place: '', tool };
}

/** The agent whose tool it is; null: it is a server's. */
export function agentOfOwnTool({ server }: { server: string }): string | null {
  return server.startsWith(ownTools) ? server.slice(ownTools.length) : null;
}

const ownTools = 'agent/';

/** In characters, as they are shown: more than anybody reads before they approve. */
export const shownLimit = 32_000;

/** Whether a person can be shown all that is about to be sent: what they do not see they cannot approve. */
export function isShowable(input: unknown): boolean {
  return shownArguments(input).length <= shownLimit;
}

/**
 * The arguments of a call as they are sent, all of them, to be read by a person: JSON, with escapes for whatever cannot be
 * seen or looks like a plain space.
 */
export function shownArguments(input: unknown): string {
  return (JSON.stringify(input ?? {}, null, 2) ?? '{}').replaceAll(invisible, escaped);
}

/** U+2800 is a braille pattern without dots. */
const invisible = /(?![\n ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
