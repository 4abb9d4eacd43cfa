/** Which calls a person approves first, as the agents file says it of a server's tools and of an agent's own. */
import { z } from 'zod';
import { approvalPolicies } from '../../elicitation/approval.ts';

const approvalWords = 'write always, never or destructive';

const approvalPolicy = z.enum(approvalPolicies, approvalWords);

export const approvalSchema = z.union(
  [
    approvalPolicy,
    z.strictObject({
      default: approvalPolicy.default('never'),
      tools: z.record(z.string().min(1), approvalPolicy).default({}).describe("By the tools' own names"),
    }),
  ],
  `${approvalWords}, or { default: never, tools: { delete_issue: always } }`,
);
