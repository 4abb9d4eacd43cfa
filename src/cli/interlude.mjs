#!/usr/bin/env node
/** Starts the program `interlude`, in the checkout and in the image, if this Node is new enough. */
import { isNodeNewEnough } from './node-version.mjs';

if (isNodeNewEnough()) void import('./start-program.mjs');
