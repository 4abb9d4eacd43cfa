/** The program `interlude` with all its commands, in a checkout or an image where everything is installed. */
import { clientCommands } from '@interlude-ai/program/client-commands.ts';
import { runProgram } from '@interlude-ai/kit/terminal/run-program.ts';
import { serviceCommands } from './service-commands.ts';

await runProgram([...serviceCommands, ...clientCommands], process.argv.slice(2));
