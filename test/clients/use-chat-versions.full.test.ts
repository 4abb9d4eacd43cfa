import { versions } from './chat-client.ts';
import { testUseChat } from './use-chat.ts';

testUseChat(versions);
