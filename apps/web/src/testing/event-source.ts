/** An event source that nothing comes from; happy-dom has none. What follows the feed is tested on a real one. */
export class SilentEventSource extends EventTarget {
  readonly readyState = 0
  readonly url: string

  constructor(url: string) {
    super()
    this.url = url
  }

  close(): void {}
}
