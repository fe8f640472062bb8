import { useEffect } from 'react'
import { refreshOnChange } from '../api/changes.ts'

/** Keeps what is on the screen as the server has it, while this user is signed in. */
export default function ChangeFeed({ userId }: { userId: number }) {
  useEffect(() => refreshOnChange(userId), [userId])
  return null
}
