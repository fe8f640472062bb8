import { useEffect } from 'react'
import { refreshOnChange } from '../api/changes.ts'

/** Keeps the screen up to date with the server while this user is signed in. */
export default function ChangeFeed({ userId }: { userId: number }) {
  useEffect(() => refreshOnChange(userId), [userId])
  return null
}
