// @ts-nocheck -- it defines what the types of Node 24 have already
/**
 * For Node 22, in the package of the service: what it lacks of explicit resource management, as far as the service uses it
 * (https://github.com/tc39/proposal-explicit-resource-management), and no warning about SQLite with each command.
 */
const { emitWarning } = process;
process.emitWarning = (warning, ...more) => {
  if (!String(warning).startsWith('SQLite is an experimental feature'))
    emitWarning.call(process, warning, ...more);
};

globalThis.SuppressedError ??= class SuppressedError extends Error {
  static {
    hide(this.prototype, 'name', 'SuppressedError');
  }
  constructor(error, suppressed, message) {
    super(message);
    hide(this, 'error', error);
    hide(this, 'suppressed', suppressed);
  }
};

/** Loggers write what is enumerable. */
function hide(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true });
}

globalThis.AsyncDisposableStack ??= class AsyncDisposableStack {
  #disposers = [];
  #isDisposed = false;

  get disposed() {
    return this.#isDisposed;
  }

  use(value) {
    this.#throwIfDisposed();
    if (value === null || value === undefined) return value;
    const asyncDispose = value[Symbol.asyncDispose] ?? undefined;
    const dispose = asyncDispose ?? value[Symbol.dispose];
    if (typeof dispose !== 'function') throw new TypeError('The value cannot be disposed.');
    // The result of a disposal that is not asynchronous does not count, not even a promise.
    this.defer(asyncDispose ? () => dispose.call(value) : () => void dispose.call(value));
    return value;
  }

  adopt(value, dispose) {
    this.#throwIfDisposed();
    if (typeof dispose !== 'function') throw new TypeError('It is not a function.');
    this.defer(() => dispose(value));
    return value;
  }

  defer(dispose) {
    this.#throwIfDisposed();
    if (typeof dispose !== 'function') throw new TypeError('It is not a function.');
    this.#disposers.push(dispose);
  }

  move() {
    this.#throwIfDisposed();
    const moved = new AsyncDisposableStack();
    for (const dispose of this.#disposers.splice(0)) moved.defer(dispose);
    this.#isDisposed = true;
    return moved;
  }

  async disposeAsync() {
    this.#isDisposed = true;
    const failures = [];
    for (const dispose of this.#disposers.splice(0).reverse()) {
      try {
        await dispose();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw failures.reduce(
        (before, error) => new SuppressedError(error, before, 'An error was suppressed during disposal'),
      );
  }

  [Symbol.asyncDispose]() {
    return this.disposeAsync();
  }

  #throwIfDisposed() {
    if (this.#isDisposed) throw new ReferenceError('The stack was disposed.');
  }
};
