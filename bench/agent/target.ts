// The target of the benchmark, a separate process: answers requests, echoes bytes, and sends as many as requested.
import { createServer, type Socket } from 'node:net'
import { handleSockets } from '../../apps/agent/src/proxy/handle-sockets.ts'

const body = 'x'.repeat(512)
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nServer: bench\r\nContent-Length: ${body.length}\r\n\r\n${body}`
)
const block = Buffer.alloc(256 * 1024, 97)

/** One answer per request head. The benchmark sends no bodies. */
const http = createServer({ noDelay: true }, socket => {
  let tail = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    tail += chunk.toString('latin1')
    const parts = tail.split('\r\n\r\n')
    tail = parts.pop() ?? ''
    for (let n = 0; n < parts.length; n++) socket.write(answer)
  })
})

// A fast socket, as in the client, so that neither is the bottleneck.
const echo = handleSockets.createServer(accepted =>
  accepted.start({
    socketData: (rawSocket, chunk) => rawSocket.write(chunk),
    socketEnd: rawSocket => rawSocket.closeWhenSent(),
    socketDrained: () => {},
    socketClosed: () => {}
  })
)

/** Sends until the peer closes. */
const bulk = createServer({ noDelay: true }, (socket: Socket) => {
  const pump = (): void => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.on('error', () => socket.destroy())
  socket.on('drain', pump)
  socket.on('data', () => {})
  pump()
})

const listen = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise(resolve => {
    server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
      const address = server.address()
      resolve(address !== null && typeof address !== 'string' ? address.port : 0)
    })
  })

const ports = { http: await listen(http), echo: await listen(echo), bulk: await listen(bulk) }
process.send?.(ports)
process.on('disconnect', () => process.exit(0))
