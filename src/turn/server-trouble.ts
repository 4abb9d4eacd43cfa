/**
 * What went wrong with a server, as a code and the data of its sentence. Data are status numbers, error codes and names from the
 * agents file, so that no secret can get in; only `words` quotes the server. `server` is its title and host. Pure.
 */
import { z } from 'zod';

const text = z.string();
const count = z.int();
/** What an operator should check. */
const remedy = z.enum(['url', 'card']);

function troubled<const Code extends string, Data extends z.ZodRawShape>(codes: readonly Code[], data: Data) {
  return z.object({ code: z.enum(codes), server: text, ...data });
}

export const serverTroubleSchema = z.discriminatedUnion('code', [
  troubled(['cancelled', 'connection_ended', 'session_lost', 'busy', 'not_mcp', 'not_mcp_process'], {}),
  troubled(['no_endpoint', 'connection_broken', 'card_late', 'no_card_content', 'no_interface'], {}),
  troubled(['unreadable_answer', 'call_ended', 'task_unknown', 'task_cancelled', 'task_end_unknown'], {}),
  troubled(['other_host'], {}),
  // `execute_timeout`: of a tool in TypeScript.
  troubled(['timeout', 'task_timeout', 'task_stopped', 'execute_timeout'], { seconds: z.number() }),
  troubled(['answer_too_large'], { megabytes: z.number() }),
  troubled(['unreadable_message'], { method: text }),
  troubled(['redirected', 'request_refused', 'failing', 'task_failing', 'no_messages', 'no_card'], {
    status: count,
  }),
  troubled(['not_listening', 'unknown_host', 'connect_timeout'], { remedy }),
  troubled(['not_reached'], { error: text, remedy }),
  troubled(['certificate', 'not_started'], { error: text }),
  troubled(['command_not_found', 'command_not_executable'], { command: text }),
  troubled(['no_folder'], { folder: text }),
  troubled(['user_not_permitted'], { uid: count }),
  troubled(['process_ended'], { how: text }),
  troubled(['header_unsendable'], { header: text, isTask: z.literal(true).optional() }),
  troubled(['other_era'], { era: text, status: count }),
  troubled(['era_learned'], { was: text, now: text }),
  troubled(['tools_not_listed', 'call_failed'], { error: z.number() }),
  troubled(['too_many_tools'], { tools: count, pages: count }),
  troubled(['call_refused', 'task_refused'], { words: text }),
]);

export type ServerTrouble = z.infer<typeof serverTroubleSchema>;
