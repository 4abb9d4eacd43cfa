import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** As the SDK's own servers refuse a state, so that clients know it. */
export class InvalidState extends ProtocolError {
  constructor(message: string) {
    super(ProtocolErrorCode.InvalidParams, message, { reason: 'invalid_request_state' });
  }
}
