/**
 * The requests, events and capabilities of AG-UI 1.0, as far as this service reads and sends them. Unknown members pass.
 * https://docs.ag-ui.com/spec/1.0
 */
import { z } from 'zod';
import { ClientIdSchema, ElicitationIdSchema } from './http.ts';

const MessageSchema = z.looseObject({
  id: z.string().min(1).meta({ description: 'Chosen by the client, or by the service for its own' }),
  role: z
    .string()
    .meta({ description: 'Only the last message of the `user`, and those of `tool` at the end, are read' }),
  content: z
    .union(
      [z.string(), z.array(z.looseObject({ type: z.string().meta({ description: '`text` or `image`' }) }))],
      'send a text or a list of parts',
    )
    .nullish()
    .meta({
      description:
        'Text, or parts: `text`, and for an agent that takes images `image`, whose source has the bytes in base64',
    }),
});

const ResumeEntrySchema = z.looseObject({
  interruptId: ElicitationIdSchema.meta({ description: '`id` of the interrupt' }),
  status: z.enum(['resolved', 'cancelled']).meta({
    description: '`cancelled` closes the question without an answer. If it has ended, nothing changes',
  }),
  payload: z.unknown().optional().meta({
    description:
      'With `resolved`: what `responseSchema` asks for; nothing for a link. `{"action": "decline"}` declines any question',
  }),
});

const ToolSchema = z.looseObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1–64 characters of A-Z, a-z, 0-9, "_" and "-"')
    .meta({ description: 'Without `__`, which names of servers’ tools have' }),
  description: z.string().max(4_000).default('').meta({ description: 'The model reads it' }),
  parameters: z
    .record(z.string(), z.unknown())
    .nullish()
    .meta({ description: 'JSON Schema of the arguments; absent: none' }),
});

const isEmpty = (state: unknown) =>
  state === undefined ||
  state === null ||
  (typeof state === 'object' && !Array.isArray(state) && Object.keys(state).length === 0);

export const AgUiRunSchema = z
  .looseObject({
    threadId: ClientIdSchema.meta({ description: 'The conversation' }),
    runId: ClientIdSchema.meta({
      description: 'Chosen by the client. The same run sent again changes nothing',
    }),
    parentRunId: ClientIdSchema.nullish().meta({ description: 'Repeated in `RUN_STARTED`' }),
    protocolVersion: z
      .string()
      .nullish()
      .meta({ description: 'Absent: a client of before 1.0, which gets only what it knows' }),
    messages: z.array(MessageSchema).meta({
      description:
        'The stored conversation is the history. Of these messages, the last one of the user is new, if it is; results of tools of the front end are taken from the end; the others say what the client has, so that a snapshot is sent if it misses something',
    }),
    resume: z.array(ResumeEntrySchema).max(50).nullish().meta({ description: 'Answers to interrupts' }),
    context: z
      .array(
        z.looseObject({
          description: z.string().meta({ description: 'What it is' }),
          value: z.string().meta({ description: 'The text itself' }),
        }),
      )
      .nullish()
      .meta({ description: 'What the page shows. The model reads it with the message, as a quotation' }),
    tools: z.array(ToolSchema).max(64).nullish().meta({
      description:
        'Tools of the front end, if the agent takes them (`tools.clientProvided` of its capabilities). Those that come with a new message hold for its turn',
    }),
    state: z
      .unknown()
      .refine(isEmpty, 'there is no shared state; send what the model should know in context')
      .optional()
      .meta({ description: 'There is no shared state: absent or empty' }),
    forwardedProps: z.unknown().optional().meta({ description: 'Ignored' }),
  })
  .meta({
    id: 'AgUiRun',
    examples: [
      {
        threadId: 'demo-1',
        runId: 'run-1',
        protocolVersion: '1.0',
        messages: [{ id: 'm1', role: 'user', content: 'List my open issues in Tracker.' }],
        tools: [
          {
            name: 'set_theme',
            description: 'Changes the theme of the page.',
            parameters: {},
          },
        ],
      },
      {
        threadId: 'demo-1',
        runId: 'run-2',
        protocolVersion: '1.0',
        messages: [
          { id: 'm1', role: 'user', content: [{ type: 'text', text: 'List my open issues in Tracker.' }] },
        ],
        resume: [
          {
            interruptId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
            status: 'resolved',
            payload: { project: 'Website' },
          },
        ],
        context: [{ description: 'The open page', value: 'Issue 17' }],
      },
    ],
  });

export type AgUiRun = z.infer<typeof AgUiRunSchema>;

const eventTypes = [
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_ERROR',
  'STEP_STARTED',
  'STEP_FINISHED',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'REASONING_START',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CONTENT',
  'REASONING_MESSAGE_END',
  'REASONING_END',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'TOOL_CALL_RESULT',
  'SUBAGENT_STARTED',
  'SUBAGENT_FINISHED',
  'SUBAGENT_ERROR',
  'ACTIVITY_SNAPSHOT',
  'MESSAGES_SNAPSHOT',
  'CUSTOM',
] as const;

/** The members of each type are in AG-UI's own schema. */
export const AgUiEventSchema = z
  .looseObject({ type: z.enum(eventTypes) })
  .meta({ id: 'AgUiEvent', description: 'An event of AG-UI 1.0' });

export type AgUiEvent = z.infer<typeof AgUiEventSchema>;

const flags = (...names: string[]) =>
  z.looseObject(Object.fromEntries(names.map((name) => [name, z.boolean().optional()])));

export const AgUiCapabilitiesSchema = z
  .looseObject({
    identity: z.looseObject({ name: z.string(), description: z.string().optional() }),
    transport: flags('streaming'),
    tools: flags('supported', 'clientProvided'),
    state: flags('snapshots', 'deltas', 'persistentState'),
    multiAgent: z.looseObject({
      supported: z.boolean(),
      subagents: z.array(z.looseObject({ name: z.string() })),
    }),
    multimodal: z.looseObject({ input: flags('image'), output: flags('image') }),
    humanInTheLoop: flags('supported', 'approvals', 'interrupts', 'approveWithEdits'),
  })
  .meta({ id: 'AgUiCapabilities', description: 'What the agent can do (`AgentCapabilities` of AG-UI)' });
