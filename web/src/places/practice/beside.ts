/** The practice deal of this page, for the parts of any place that behave otherwise in one: ×, hints, standings. */
import { getContext, setContext } from 'svelte'
import type { Practice } from './practice.svelte'

const KEY = Symbol('practice')

export const givePractice = (practice: Practice): Practice => setContext(KEY, practice)

/** Undefined where there is none at all: on the TV, in the gallery. */
export const practiceHere = (): Practice | undefined => getContext<Practice | undefined>(KEY)
