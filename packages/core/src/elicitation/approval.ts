/**
 * Whether a person has to approve a tool call before it is sent, and what they see of it. Pure.
 */
import type { Remember } from './elicitation.ts';
import { nameInWords } from './wording.ts';

/** `destructive`: only calls of tools that may destroy something, according to their server. */
export const approvalPolicies = ['always', 'never', 'destructive'] as const;
export type ApprovalPolicy = (typeof approvalPolicies)[number];

/** For all tools of a server, or by tool name. */
export type ApprovalSettings =
  | ApprovalPolicy
  | { default: ApprovalPolicy; tools: Record<string, ApprovalPolicy> };

/** MCP's hints of a server about a tool. They are not verified. */
export interface ToolHints {
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
}

export function policyFor(settings: ApprovalSettings | undefined, tool: string): ApprovalPolicy {
  if (settings === undefined) return 'never';
  if (typeof settings === 'string') return settings;
  return Object.hasOwn(settings.tools, tool) ? (settings.tools[tool] ?? settings.default) : settings.default;
}

/** As in MCP, a tool without hints counts as destructive; so does one that its server has not listed. */
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

/** Whether a question is our own about a tool call, and not a form of a server without fields. */
export function isApproval({ trigger }: { trigger: string }): boolean {
  return trigger === 'approval';
}

/** The limit of the reason for declining, in characters. */
export const longestReason = 1_000;

/** What a person may add to the decision. */
export interface ApprovalDetails {
  remember?: Remember;
  reason?: string;
}

/** Remembered approvals of an agent's own tool have a server name and a place that no server can have. */
export function ownTool(agent: string, tool: string): { server: string; place: string; tool: string } {
  return { server: ownTools + agent, place: '', tool };
}

/** The agent that has the tool; null if it is a server's. */
export function agentOfOwnTool({ server }: { server: string }): string | null {
  return server.startsWith(ownTools) ? server.slice(ownTools.length) : null;
}

const ownTools = 'agent/';

/** The limit of shown arguments, in characters. */
export const approvalLimit = 32_000;

/** Whether a person can be shown all arguments: they cannot approve what they do not see. */
export function isShowable(input: unknown): boolean {
  return shownArguments(input).length <= approvalLimit;
}

/**
 * All arguments of a call as they are sent, for a person to read: JSON, with escapes for characters that are invisible or
 * look like a plain space.
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

/** The question about a call that needs approval. */
export function approvalMessage(agent: string, serverTitle: string, tool: string): string {
  return `${agent} wants to ${nameInWords(tool)} in ${serverTitle}. Approve this?`;
}

/** The same for an agent's own tool. */
export function toolApprovalMessage(agent: string, tool: string): string {
  return `${agent} wants to ${nameInWords(tool)}. Approve this?`;
}
