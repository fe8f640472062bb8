import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP relay to the database that can refuse connections or fall silent. */
export async function startRelay(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isOpen = true
  let isFrozen = false
  let accepted = 0
  const server = createServer(incoming => {
    if (!isOpen) return void incoming.destroy()
    accepted++
    const outgoing = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming]
    ] as const) {
      sockets.add(from)
      if (isFrozen) from.pause()
      from.on('data', data => to.write(data))
      if (isFrozen) from.pause()
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = new URL(url)
  address.hostname = '127.0.0.1'
  address.port = String((server.address() as AddressInfo).port)
  return {
    url: address.href,
    /** Closes it and all its connections. */
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
    /** Silences the open connections without closing them. New ones work. */
    mute() {
      for (const socket of sockets) socket.removeAllListeners('data').pause()
    },
    close() {
      isOpen = false
      for (const socket of sockets) socket.destroy()
    },
    reopen() {
      isOpen = true
    },
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
    accepted: () => accepted,
    /** Have all clients closed their connections? */
    ended: () => [...sockets].every(socket => socket.destroyed)
  }
}
