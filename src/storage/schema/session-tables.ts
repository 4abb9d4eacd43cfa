/** Tables of sessions that protocols have and we would not need. See ../schema.ts. */
import type { McpReply } from '../ports/mcp-sessions.ts';

export interface SessionTables {
  mcp_sessions: {
    id: string;
    /** The principal that opened it. */
    owner: string;
    version: string;
    /** JSON: the kinds of questions that its client shows. */
    shows: string;
    expires_at: number;
  };
  mcp_calls: {
    session_id: string;
    /** JSON: the request's id in JSON-RPC, a string or a number. */
    request_id: string;
    conversation: string;
    turn_id: string;
    tool: string;
  };
  mcp_replies: {
    session_id: string;
    elicitation_id: string;
    kind: McpReply['kind'];
    reasons: string | null;
    /** How many there have been to this question. */
    times: number;
  };
}
