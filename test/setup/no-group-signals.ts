/**
 * Before every test file. A signal to process 0 goes to the whole process group: the test's process, vitest, npm, the CI
 * script. All would end at once without a message. A test that has no process id by mistake fails instead.
 */
const marked = process.kill as typeof process.kill & { refusesGroups?: true };

if (!marked.refusesGroups) {
  const refusing: typeof marked = (pid, signal) => {
    if (pid === 0 || pid === -1) throw new Error(`process.kill(${pid}) would end the whole test run`);
    return marked.call(process, pid, signal);
  };
  refusing.refusesGroups = true;
  process.kill = refusing;
}
