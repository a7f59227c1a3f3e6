/**
 * Development only: every place with made-up sessions, /gallery.html (`npm run dev`).
 * Not an input of the production build.
 */

import { mount } from 'svelte'
import './look/tokens.css'
import './look/base.css'
import Gallery from './gallery/Gallery.svelte'

const target = document.getElementById('app')
if (target) mount(Gallery, { target })
