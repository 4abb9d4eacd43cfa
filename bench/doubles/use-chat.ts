/** The least that a page with `useChat` loads: the hook and what draws. */
import { useChat } from '@ai-sdk/react';
import { createRoot } from 'react-dom/client';

Object.assign(globalThis, { useChat, createRoot });
