/** An EventSource that never sends anything, because happy-dom has none. Feed tests use a real one. */
export class SilentEventSource extends EventTarget {
  readonly readyState = 0
  readonly url: string

  constructor(url: string) {
    super()
    this.url = url
  }

  close(): void {}
}
