/**
 * A model call that failed, and what to do about it. Two people read of it: whoever waits for the answer learns what they
 * can do (that text is in workflow history); the operator learns in the log which model, where, what it said, the remedy.
 */

export interface ModelFailure {
  type:
    | 'ModelRateLimited'
    | 'ModelQuotaExhausted'
    | 'ModelUnavailable'
    | 'ModelUnauthorized'
    | 'ModelRefusedRequest'
    | 'ModelContextTooLong'
    | 'ModelContentPolicy'
    | 'ModelEmptyAnswer'
    | 'ModelMisconfigured';
  /** For whoever waits for the answer. */
  message: string;
  /** For the operator: names the model, its host, a status and the remedy. */
  forOperator: string;
  /** In the provider's own words, as far as they can be logged: they may repeat the key or the prompt. */
  said?: string;
  /** Whether the same call can succeed later. */
  retry: boolean;
  /** How long the provider asked us to wait, in milliseconds. */
  retryAfterMs?: number;
  status?: number;
  /** The provider rejected what was in the request. Leaving something out may help. */
  rejection?: { tool?: BlamedTool | undefined };
}

/** The tool that a provider names: by its name, or by its place among those that were sent. */
export type BlamedTool = { name: string } | { index: number };

export interface ModelIdentity {
  /** As in the agents file: `openai:…`. */
  spec: string;
  /** Environment variable with the key, if there is one. */
  keyVariable: string | null;
}

/** The model stopped talking in the middle, or never began. */
export class ModelStalledError extends Error {
  override name = 'ModelStalledError';
}

const notSetUp =
  'The assistant cannot answer because of a problem in its set-up. Tell whoever runs this service.';
const unavailable = 'The assistant cannot be reached right now. Try again in a moment.';

export const messageForUsers: Record<ModelFailure['type'], string> = {
  ModelRateLimited: 'The assistant has too much to do right now. Try again in a moment.',
  ModelQuotaExhausted: notSetUp,
  ModelUnavailable: unavailable,
  ModelUnauthorized: notSetUp,
  ModelRefusedRequest: notSetUp,
  ModelContextTooLong: 'This conversation is too long for the assistant. Start a new one.',
  ModelContentPolicy: 'The assistant declined to answer because of its content policy. Rephrase the request.',
  ModelEmptyAnswer: 'The assistant answered with nothing. Ask again, or in other words.',
  ModelMisconfigured: notSetUp,
};

/** Nothing was said and nothing called. Without room for more, a retry does not help; otherwise it may. */
export function emptyAnswer(finish: string, { spec }: ModelIdentity): ModelFailure {
  if (finish === 'content-filter') {
    const forOperator = `The model ${spec} declined to answer because of its content policy.`;
    return {
      type: 'ModelContentPolicy',
      message: messageForUsers.ModelContentPolicy,
      forOperator,
      retry: false,
    };
  }
  if (finish === 'length') {
    const message = 'The assistant ran out of room before it said anything. Ask for something shorter.';
    const forOperator = `The model ${spec} ran out of room before it said anything. Give the agent more modelSettings.maxOutputTokens, or less to think about.`;
    return { type: 'ModelEmptyAnswer', message, forOperator, retry: false };
  }
  return {
    type: 'ModelEmptyAnswer',
    message: messageForUsers.ModelEmptyAnswer,
    forOperator: `The model ${spec} answered with nothing (${finish}).`,
    retry: true,
    retryAfterMs: 250,
  };
}
