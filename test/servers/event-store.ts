/** Remembers what a server of the old era said on its streams, so that they can be taken up again. */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

export function createEventStore(): EventStore {
  const events: { streamId: string; message: JSONRPCMessage }[] = [];
  const indexOf = (eventId: string) => Number(eventId.slice(1));
  return {
    storeEvent(streamId, message) {
      events.push({ streamId, message });
      return Promise.resolve(`e${events.length - 1}`);
    },
    getStreamIdForEventId: (eventId) => Promise.resolve(events[indexOf(eventId)]?.streamId),
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = events[indexOf(lastEventId)]?.streamId ?? '';
      for (const [index, event] of [...events.entries()].slice(indexOf(lastEventId) + 1)) {
        const isEmpty = Object.keys(event.message).length === 0;
        if (event.streamId === streamId && !isEmpty) await send(`e${index}`, event.message);
      }
      return streamId;
    },
  };
}
