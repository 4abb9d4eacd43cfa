/** Classifies the error of a model call by what to do about it. Pure. */
import { messageForUsers } from './model-failure.ts';
import type { ModelFailure, ModelIdentity } from './model-failure.ts';
import { factsOf } from './provider-error.ts';
import type { ErrorFacts } from './provider-error.ts';
import { ModelConfigError } from './provider.ts';

export function classifyModelError(error: unknown, model: ModelIdentity, now = Date.now()): ModelFailure {
  if (error instanceof ModelConfigError) {
    return {
      type: 'ModelMisconfigured',
      message: messageForUsers.ModelMisconfigured,
      forOperator: error.message,
      retry: false,
    };
  }
  const facts = factsOf(error, now);
  const at = facts.host === undefined ? '' : ` at ${facts.host}`;
  const code = facts.status === undefined ? '' : ` (${facts.status})`;
  const subject = `The model ${model.spec}${at}`;
  const failure = (type: ModelFailure['type'], retry: boolean, forOperator: string): ModelFailure => ({
    type,
    message: messageForUsers[type],
    forOperator,
    retry,
    ...(facts.said !== undefined && { said: facts.said }),
    ...(retry && facts.retryAfterMs !== undefined && { retryAfterMs: facts.retryAfterMs }),
    ...(facts.status !== undefined && { status: facts.status }),
  });

  switch (causeOf(facts)) {
    case 'quota':
      return failure(
        'ModelQuotaExhausted',
        false,
        `${subject} refused the call${code}: its quota is used up. Check plan and billing there.`,
      );
    case 'rate':
      return failure(
        'ModelRateLimited',
        true,
        `${subject} is rate-limited${code}. Ask the provider for a higher limit if it happens often.`,
      );
    case 'key': {
      const remedy =
        model.keyVariable === null
          ? 'Configure apiKeyEnv for its provider.'
          : `Check the key in ${model.keyVariable}.`;
      return failure('ModelUnauthorized', false, `${subject} refused our key${code}. ${remedy}`);
    }
    case 'policy':
      return failure(
        'ModelContentPolicy',
        false,
        `${subject} declined to answer because of its content policy${code}.`,
      );
    case 'length':
      return {
        ...failure('ModelContextTooLong', false, `A conversation is too long for ${model.spec}${code}.`),
        // Too many bytes, which are files rather than words.
        ...(facts.status === 413 && { rejection: {} }),
      };
    case 'unknown-model':
      return failure(
        'ModelRefusedRequest',
        false,
        `${subject} does not exist there${code}. Check the model's name and the provider's baseURL in the agents file.`,
      );
    case 'refused':
      return {
        ...failure(
          'ModelRefusedRequest',
          false,
          `${subject} did not accept the request${code}. ${remedyFor(facts)}`,
        ),
        rejection: { tool: facts.blamedTool },
      };
    case 'stalled':
      return failure('ModelUnavailable', true, `${subject} stopped answering.`);
    case 'unavailable':
      return failure(
        'ModelUnavailable',
        true,
        `${subject} cannot be reached or is out of order${code}. Check that it runs and the provider's baseURL in the agents file.`,
      );
  }
}

function remedyFor({ said, blamedTool }: ErrorFacts): string {
  if (blamedTool) return 'Correct the tool that it names, or leave it out of the agents file.';
  return said === undefined
    ? "Check that it supports tools and streaming, and the agent's modelSettings."
    : "Compare what it says with the agent's modelSettings and tools.";
}

function causeOf({ name, status, codes, said = '', blamedTool }: ErrorFacts) {
  const says = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  if (name === 'ModelStalledError') return 'stalled';
  if (status === 402 || says(/insufficient_quota|billing/)) return 'quota';
  if (says(/content_filter|content_policy|responsible_?ai/)) return 'policy';
  if (status === 413 || says(/context_length|request_too_large/)) return 'length';
  if (!blamedTool && (says(/string_above_max/) || (status !== 429 && isTooLong(said)))) return 'length';
  if (status === 429 || says(/rate_limit/)) return 'rate';
  // Whatever the status: some providers and gateways send 4xx while they are out of order.
  if (
    says(
      /^(overloaded(_error)?|server_error|internal_(server_)?error|(temporarily|service)_unavailable|timeout(_error)?)$/,
    )
  )
    return 'unavailable';
  if (status === 401 || status === 403 || says(/authentication|permission|invalid_api_key/)) return 'key';
  if (name === 'AI_LoadAPIKeyError') return 'key';
  const isRedirect = status !== undefined && status >= 300 && status < 400;
  if (status === 404 || isRedirect || says(/model_not_found/) || name === 'AI_NoSuchModelError')
    return 'unknown-model';
  if (status !== undefined && status >= 400 && status < 500 && ![408, 409, 425].includes(status))
    return 'refused';
  if (says(/invalid_request/) || requestErrors.has(name)) return 'refused';
  return 'unavailable';
}

/** Providers without a code for it: Anthropic, vLLM, llama.cpp, Ollama. */
function isTooLong(said: string): boolean {
  return /prompt is too long|context (length|size|window)|maximum (context|number of (input )?tokens)/i.test(
    said,
  );
}

/** The SDK could not even make a request out of what it was given. */
const requestErrors = new Set([
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_MessageConversionError',
  'AI_MissingToolResultsError',
  'AI_UnsupportedFunctionalityError',
]);
