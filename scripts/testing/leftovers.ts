import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

/**
 * Ends every process that the run left behind, and returns them. They have the run's folder in their environment or,
 * like databases, in their command line.
 */
export function endLeftovers(folder: string): string[] {
  const ended: string[] = []
  // Repeat, because a process may start another during the search.
  for (let round = 0; round < 5; round++) {
    const found = processes(folder).filter(({ pid }) => pid !== process.pid)
    if (found.length === 0) break
    for (const { pid, command } of found) {
      try {
        process.kill(pid, 'SIGKILL')
        ended.push(`${pid} ${command.slice(0, 100)}`)
      } catch {
        // It has already ended.
      }
    }
  }
  return ended
}

function processes(folder: string): { pid: number; command: string }[] {
  if (process.platform === 'win32') return []
  if (process.platform === 'linux') {
    return readdirSync('/proc').flatMap(name => {
      if (!/^\d+$/.test(name)) return []
      const command = readProc(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim()
      // A zombie has neither command line nor environment.
      const ours = command.includes(folder) || readProc(`/proc/${name}/environ`).includes(folder)
      return ours ? [{ pid: Number(name), command }] : []
    })
  }
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' })
  return list.split('\n').flatMap(line => {
    const [, pid, command] = /^\s*(\d+) (.*)$/.exec(line) ?? []
    return pid && command?.includes(folder) ? [{ pid: Number(pid), command }] : []
  })
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
