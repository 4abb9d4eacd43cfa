/** Tracker as an MCP server. One is built per request, for the account the request's token belongs to. */
import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import type { CallToolResult, McpRequestContext, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { accountNames } from './accounts.ts';
import type { Faults } from './faults.ts';
import { NoSuchIssue } from './store.ts';
import type { Issue, IssueStore } from './store.ts';

export const scopes = { read: 'issues:read', write: 'issues:write' } as const;

const summary = z.object({
  id: z.number().int(),
  title: z.string(),
  state: z.enum(['open', 'closed']),
  assignee: z.string(),
  createdAt: z.string(),
});
const detail = summary.extend({
  description: z.string(),
  author: z.string(),
  comments: z.array(z.object({ author: z.string(), text: z.string(), at: z.string() })),
});
const oneIssue = z.object({ issue: detail });
const id = z.number().int().positive().describe('Number of the issue, as in #12');

export function buildTracker(store: IssueStore, faults: Faults, { authInfo }: McpRequestContext): McpServer {
  const account = String(authInfo?.extra?.['account']);
  const server = new McpServer(
    { name: 'tracker', title: 'Tracker', version: '1.0.0' },
    {
      instructions: 'Tracker keeps the issues of one team. Issues are referred to as #12.',
      // The same tools for everybody, so that nobody has to connect before their model knows them.
      cacheHints: { 'tools/list': { ttlMs: 600_000, cacheScope: 'public' } },
    },
  );
  const reading = { readOnlyHint: true, openWorldHint: false };
  const writing = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
  const mayRead = requireScopes(scopes.read);
  const mayWrite = requireScopes(scopes.read, scopes.write);

  server.registerTool(
    'list_issues',
    {
      title: 'List issues',
      description: 'Lists issues, by default the open ones assigned to the user.',
      inputSchema: z.object({
        state: z.enum(['open', 'closed', 'all']).default('open'),
        assignee: z
          .enum(['me', 'anyone', ...accountNames])
          .default('me')
          .describe('Whose issues: the user’s own (me), everybody’s (anyone) or one account’s'),
      }),
      outputSchema: z.object({ issues: z.array(summary) }),
      annotations: reading,
      scopeChallenge: mayRead,
    },
    ({ state, assignee }, context) =>
      execute('list_issues', context, () => {
        const whose = { me: account, anyone: null }[assignee as string];
        const issues = store.list({ state, assignee: whose === undefined ? assignee : whose });
        return { text: issues.map(line).join('\n') || 'No issues.', data: { issues: issues.map(summarise) } };
      }),
  );

  server.registerTool(
    'get_issue',
    {
      title: 'Read an issue',
      description: 'Gives one issue with its description and all comments.',
      inputSchema: z.object({ id }),
      outputSchema: oneIssue,
      annotations: reading,
      scopeChallenge: mayRead,
    },
    (input, context) => execute('get_issue', context, () => shown(store.get(input.id), 'is')),
  );

  server.registerTool(
    'create_issue',
    {
      title: 'Create an issue',
      description: 'Creates an open issue, assigned to the user.',
      inputSchema: z.object({
        title: z.string().trim().min(1).max(200),
        description: z.string().default(''),
      }),
      outputSchema: oneIssue,
      annotations: { ...writing, idempotentHint: false },
      scopeChallenge: mayWrite,
    },
    (input, context) =>
      execute('create_issue', context, () => shown(store.create(account, input), 'created')),
  );

  server.registerTool(
    'comment_on_issue',
    {
      title: 'Comment on an issue',
      description: 'Adds a comment in the user’s name.',
      inputSchema: z.object({ id, text: z.string().trim().min(1).max(5_000) }),
      outputSchema: oneIssue,
      annotations: { ...writing, idempotentHint: false },
      scopeChallenge: mayWrite,
    },
    (input, context) =>
      execute('comment_on_issue', context, () =>
        shown(store.comment(account, input.id, input.text), 'commented on'),
      ),
  );

  server.registerTool(
    'close_issue',
    {
      title: 'Close an issue',
      description: 'Closes an issue. Closing a closed one changes nothing.',
      inputSchema: z.object({ id }),
      outputSchema: oneIssue,
      annotations: { ...writing, idempotentHint: true },
      scopeChallenge: mayWrite,
    },
    (input, context) => execute('close_issue', context, () => shown(store.close(input.id), 'closed')),
  );
  return server;

  async function execute(tool: string, context: ServerContext, work: () => Shown): Promise<CallToolResult> {
    const key = context.mcpReq._meta?.['interlude/callId'];
    const callId = typeof key === 'string' ? key : null;
    await faults.reached('before', tool);
    try {
      const { text, data } = store.execute({ callId, tool, account }, work);
      await faults.reached('after', tool);
      return { content: [{ type: 'text', text }], structuredContent: data };
    } catch (error) {
      if (!(error instanceof NoSuchIssue)) throw error;
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  }
}

interface Shown {
  text: string;
  data: Record<string, unknown>;
}

function shown(issue: Issue, what: 'is' | 'created' | 'commented on' | 'closed'): Shown {
  const notes = issue.comments.map(({ author, text }) => `${author}: ${text}`);
  const text =
    what === 'is'
      ? [line(issue), issue.description, ...notes].filter(Boolean).join('\n')
      : `${capital(what)} ${line(issue)}`;
  return { text, data: { issue } };
}

function summarise({ id: number, title, state, assignee, createdAt }: Issue): z.infer<typeof summary> {
  return { id: number, title, state, assignee, createdAt };
}

function line(issue: Issue): string {
  return `#${issue.id} ${issue.title} (${issue.state}, ${issue.assignee})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
