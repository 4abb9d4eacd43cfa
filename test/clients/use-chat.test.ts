/** With the newest version of the AI SDK; the others, and all of them beside each other, are in the full suite. */
import { versions } from './chat-client.ts';
import { testUseChat } from './use-chat.ts';

testUseChat(versions.slice(0, 1));
