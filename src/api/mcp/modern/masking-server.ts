/**
 * The SDK's low-level server sends clients the message of any error that a handler throws, and reports invalid parameters as
 * internal errors. This one translates errors: unexpected ones are logged and masked.
 */
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { ServerOptions } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ServiceError } from '../../../service/service-error.ts';

// The high-level server turns protocol errors into tool results.
// oxlint-disable-next-line typescript/no-deprecated
export class MaskingServer extends Server {
  readonly #failed: (error: unknown) => void;

  constructor(
    info: { name: string; title: string; version: string },
    { failed, ...options }: ServerOptions & { failed: (error: unknown) => void },
  ) {
    super(info, options);
    this.#failed = failed;
  }

  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        throw toProtocolError(method, error, this.#failed);
      }
    };
  }
}

const { InternalError, InvalidParams } = ProtocolErrorCode;
/** From JSON-RPC's range for servers. */
const temporarilyUnavailable = -32000;

function toProtocolError(method: string, error: unknown, failed: (error: unknown) => void): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof ServiceError) {
    const { code, message, details } = error;
    const { retryAfterMs } = details;
    // The service's own code is in `data`.
    return new ProtocolError(
      code === 'unavailable' || code === 'rate_limited' ? temporarilyUnavailable : InvalidParams,
      message,
      {
        code,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    );
  }
  const misfit = misfitIn(error);
  if (misfit !== null)
    return new ProtocolError(InvalidParams, `The parameters of ${method} do not fit. ${misfit}`);
  failed(error);
  return new ProtocolError(
    InternalError,
    'This was not your fault. Try again; if it keeps happening, tell the operator.',
    { code: 'internal' },
  );
}

const IssuesSchema = z.array(
  z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);

/** The SDK throws its schemas' issues as the message of a plain error. Null for any other error. */
function misfitIn(error: unknown): string | null {
  if (!(error instanceof Error) || !error.message.startsWith('[')) return null;
  try {
    const issues = IssuesSchema.parse(JSON.parse(error.message));
    return issues
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join('; ')
      .slice(0, 1_000);
  } catch {
    return null;
  }
}
