/** The parts of an answer, put together: texts whole, and of every question what became of it. Pure. */
import type { AgentContent, AgentPart } from './agent-part.ts';

export function toContent(parts: Iterable<AgentPart>): AgentContent[] {
  const content = new Map<string, AgentContent>();
  for (const part of parts) {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const type = part.type === 'text-delta' ? 'text' : 'reasoning';
        const known = content.get(`${type} ${part.id}`);
        const before = known?.type === type ? known.text : '';
        content.set(`${type} ${part.id}`, { type, text: before + part.delta });
        break;
      }
      case 'elicitation':
        content.set(`elicitation ${part.elicitation.elicitationId}`, part);
        break;
      case 'stream-start':
      case 'response-metadata':
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
      case 'error':
      case 'finish':
        break;
      default:
        part satisfies never;
    }
  }
  return [...content.values()];
}
